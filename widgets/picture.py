"""A Picture: everything that one setting of a figure shows, as data. The player moves a cursor through its frames."""
from __future__ import annotations

import json
from dataclasses import dataclass, field

import numpy as np
from bokeh.models import ColumnDataSource

FRAMES = "frames"  # name of the source that holds every frame, a row each
DIGITS = 7         # of a number in a picture's table
ABOUT = "about"    # name of the source with one row of JSON: what belongs to the whole setting


@dataclass
class Picture:
    """What a setting shows. F is the number of frames.

    sources      {source: {column: (n,)}}: what does not move.
    frames       {"source.column": (F, n) array or F lists of n strings}: what moves;
                 {"say.word": F strings}: sentences; "say.sentence" must be there.
    clock_ms     (F,) the model's time at which each frame begins, never falling.
    frame_names  F short names for the Position slider.
    telling      the frame that answers the question.
    play_s       seconds to play all of it at speed 1.
    smooth       the columns of `frames` that may be interpolated between two frames.
    props        {"model name.attribute": value}: axis ranges and the like.
    facts        {word: string}: the present numbers, for prose and the formula.
    table        (column names, rows of strings or numbers): the data behind the picture.
    """

    sources: dict[str, dict]
    frames: dict[str, np.ndarray | list]
    clock_ms: np.ndarray
    frame_names: list[str]
    telling: int
    play_s: float = 8.0
    smooth: tuple[str, ...] = ()
    props: dict[str, object] = field(default_factory=dict)
    facts: dict[str, str] = field(default_factory=dict)
    table: tuple[list[str], list[list]] = ((), ())

    def __post_init__(self):
        self.clock_ms = np.asarray(self.clock_ms, dtype=np.float64)
        count = len(self.clock_ms)
        if not count:
            raise ValueError("a picture needs a frame, and its clock a time for it")
        if np.any(np.diff(self.clock_ms) < 0):
            raise ValueError("the clock falls; each frame must begin when the one before it does, or later")
        self.telling %= count
        for name, rows in {**self.frames, "frame_names": self.frame_names}.items():
            if len(rows) != count:
                raise ValueError(f"{name} has {len(rows)} frames, the clock {count}")
        if "say.sentence" not in self.frames:
            raise ValueError("a picture needs say.sentence: it is what a reader hears")
        if unknown := set(self.smooth) - set(self.frames):
            raise ValueError(f"smooth names {', '.join(sorted(unknown))}, which does not move; it must be a column of frames")

    def __len__(self) -> int:
        return len(self.clock_ms)

    def frame_data(self) -> dict:
        """Columns of the frames source: one row a frame, numbers as small as they can be."""
        data = {name: _small(rows) for name, rows in self.frames.items()}
        return {**data, "clock_ms": _small(self.clock_ms), "frame_name": list(self.frame_names)}

    def about(self) -> str:
        """What belongs to the whole setting, as JSON."""
        names, rows = self.table
        return json.dumps(dict(telling=self.telling, play_s=self.play_s, smooth=list(self.smooth), facts=self.facts,
                               table=dict(names=list(names), rows=[[_plain(v) for v in row] for row in rows])))

    def source_data(self, name: str, at: int | None = None) -> dict:
        """Columns of one source, its moving ones as they are in frame `at` (the telling one if None)."""
        at = self.telling if at is None else at
        data = dict(self.sources.get(name, {}))
        prefix = name + "."
        for key, rows in self.frames.items():
            if key.startswith(prefix):
                data[key[len(prefix):]] = _small(rows)[at]
        if "text" in data:  # labels are hidden in the browser where there is no room for them
            data["shown"] = list(data["text"])
        return data

    def source_names(self) -> list[str]:
        """All sources that the figure's plots draw from."""
        return sorted(set(self.sources) | self.moving_names())

    def moving_names(self) -> set[str]:
        """Those of them that change from frame to frame."""
        return {key.split(".")[0] for key in self.frames} - {"say"}


def changes(picture: Picture, models: dict[str, object]) -> list[tuple[object, str, object]]:
    """(model, attribute, value) for every model that this picture sets; `models` maps names to Bokeh models.

    ValueError for a source or range that no plot has.
    """
    wanted = [(FRAMES, "data", picture.frame_data()), (ABOUT, "data", {"json": [picture.about()]})]
    wanted += [(name, "data", picture.source_data(name)) for name in picture.source_names()]
    wanted += [(*path.rsplit(".", 1), value) for path, value in picture.props.items()]
    if undrawn := {name for name, *_ in wanted} - set(models):
        raise ValueError(f"the picture sets {', '.join(sorted(undrawn))}, but no plot has a model of that name")
    return [(models[name], attribute, value) for name, attribute, value in wanted]


def source(name: str, *columns: str) -> ColumnDataSource:
    """An empty source of this name, to be filled from a Picture."""
    return ColumnDataSource({column: [] for column in columns}, name=name)


def _small(rows):
    """Arrays shrink to 32-bit floats or the smallest integers: BokehJS reads those as typed arrays."""
    if isinstance(rows, list):
        return rows
    rows = np.asarray(rows)
    if rows.dtype.kind == "b":
        return rows.astype(np.uint8)
    if rows.dtype.kind in "iu":
        for kind in (np.uint8, np.int16, np.int32):
            limits = np.iinfo(kind)
            if rows.size == 0 or (rows.min() >= limits.min and rows.max() <= limits.max):
                return rows.astype(kind)
    return rows.astype(np.float32)


def _plain(value):
    """A number or word as JSON has it: whole numbers whole, of others the seven digits that are the model's."""
    value = value.item() if isinstance(value, np.generic) else value
    if not isinstance(value, float) or value.is_integer():
        return value
    return float(f"{value:.{DIGITS}g}")
