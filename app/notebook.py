"""Figures outside the essay's page: in a notebook and on a Panel server, with Panel's own widgets.

    from app.notebook import show
    show("kv-memory", users=12)
"""
from __future__ import annotations

import panel as pn

from .figure import Live
from .order import figure, figures
from .site import TITLE

INTERVAL_MS = 100


def show(figure_id: str, **settings) -> pn.Column:
    """One figure, alive: its picture, sentence, settings and player. ValueError for an unknown figure or a wrong setting."""
    pn.extension()
    return view(figure_id, **settings)


def page() -> pn.Column:
    """All figures in the order of the essay, as `panel serve app` shows them."""
    return pn.Column(pn.pane.Markdown(f"# {TITLE}"), *(view(f.id) for f in figures()), max_width=1040)


def view(figure_id: str, **settings) -> pn.Column:
    """The figure as Panel shows it; every change of a widget computes it once and shows the frame that answers."""
    f = figure(figure_id)
    unknown = set(settings) - set(f.defaults())
    if unknown:
        raise ValueError(f"{figure_id} has no setting {', '.join(sorted(unknown))}; it has {', '.join(f.defaults())}")
    live = Live(f, **settings)
    live.follow()
    for root in list(live.document.roots):  # Panel puts them into a document of its own
        live.document.remove_root(root)
    sentence = pn.pane.Markdown(_said(live, live.picture.telling))
    player = pn.widgets.Player(label=f.title, start=0, end=len(live.picture) - 1, value=live.picture.telling, interval=_interval(live),
                               loop_policy="once", show_value=False)

    def go(event) -> None:
        live.show(event.new)
        sentence.object = _said(live, event.new)

    def answered(picture) -> None:
        player.param.update(end=len(picture) - 1, value=picture.telling, interval=_interval(live))
        sentence.object = _said(live, picture.telling)

    player.param.watch(go, "value")
    live.listen(answered)
    return pn.Column(pn.pane.Markdown(f"### {f.title}"), *(pn.pane.Bokeh(plot, sizing_mode="stretch_width") for plot in live.plots),
                     sentence, player, pn.FlexBox(*live.widgets.values()), sizing_mode="stretch_width")


def _said(live: Live, frame: int) -> str:
    return live.picture.frames["say.sentence"][frame].strip()


def _interval(live: Live) -> int:
    """Milliseconds a frame, so that all of it takes as long as in the essay."""
    return max(20, min(INTERVAL_MS * 10, round(1000 * live.picture.play_s / len(live.picture))))
