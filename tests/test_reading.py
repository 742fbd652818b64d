"""The readers' pages: every row is there, the medians are the check's, the two pictures say what the model says."""
import re
import statistics

import numpy as np
import pytest
from hypothesis import given, strategies as st

from app import comparison, reading, repairs
from app.order import IDS
from app.site import figure_html, page
from model import check, points, predict, story, terms
from widgets.strips import spread_out


@pytest.fixture(scope="module")
def measured():
    return comparison.html()


def test_every_row_stands_in_the_table(measured):
    found = re.findall(r"<tr><td>(m\d+)</td>", measured[measured.index('id="rows"'):])
    assert found == [row.id for row in points.measured()]


@pytest.mark.parametrize("by", ["engine", "card"])
def test_medians_are_those_of_the_check(measured, by):
    for name, entry in check.report(comparison.predictions())["medians"][by].items():
        assert f"<td>{name}</td><td>{entry['rows']}</td><td>{repairs.share(entry['median_error'])}</td>" in measured


def test_held_out_medians_and_their_aims(measured):
    for name, entry in check.held_out().items():
        row = next(line for line in measured.split("<tr>") if line.startswith(f"<td>{name}</td><td>{entry['rows']}</td>"))
        assert repairs.share(entry["median_error"]) in row
        assert entry["target"] is None or repairs.share(entry["target"]) in row


def test_the_worst_row_of_each_is_named_with_its_reason(measured):
    for groups in check.report(comparison.predictions())["worst"].values():
        for entry in groups.values():
            assert f"<td>{entry['id']}</td>" in measured and entry["why"].split(";")[0].split("'")[0].split("(")[0] in measured


@pytest.mark.parametrize("missing, says", [
    ([], "None of the"), ([{"id": "m1", "quantity": "TTFT", "lacks": "how long the prompt is"}], "how long the prompt is")])
def test_what_could_not_be_predicted(missing, says):
    assert says in comparison.missing({"rows": [{}] * 3, "not_predicted": missing})


@pytest.mark.parametrize("unit, measured_value, predicted, times", [
    ("ms", 20.0, 10.0, 2.0), ("ms/token", 20.0, 40.0, 0.5), ("us", 5.0, 5.0, 1.0), ("tok/s", 50.0, 100.0, 2.0),
    ("tokens", 100.0, 50.0, 0.5), ("x", 2.0, 3.0, 1.5)])
def test_a_promise_is_turned_around_for_times(unit, measured_value, predicted, times):
    from model.rows import Row
    row = Row(id="t", source="", quantity="", unit=unit, value=measured_value, words={})
    assert repairs.promised(predict.Prediction(row, predicted, "g")) == pytest.approx(times)


def test_the_steps_lead_from_the_roofline_to_the_engines():
    """The first bar is the datasheet's median, the last that of all terms, one bar more for each cause."""
    full = comparison.predictions()
    for group, path in repairs.steps().items():
        errors = [abs(one.error) for one in full if one.group == group]
        assert path[-1][1] == pytest.approx(statistics.median(errors))
        plain = [abs(one.error) for one, _ in story.roofline() if one.group == group]
        assert path[0][1] == pytest.approx(statistics.median(plain), rel=0.02)
        assert [cause for cause, _ in path[2:]] == list(story.CAUSES)
        assert path[-1][1] < path[0][1] / 2
    assert terms.value("knee") == terms.fitted()["knee"]  # nothing that was tried has stayed


def test_both_pictures_speak(measured):
    assert measured.count('role="img"') == 2 * (1 + len(story.GROUPS))
    for group, (plain, full) in repairs.ratios().items():
        assert f"{group}: the roofline promises {statistics.median(plain):.2f} times" in measured
    assert measured.count("<circle") == 2 * sum(len(plain) + len(full) for plain, full in repairs.ratios().values())


@given(st.lists(st.floats(0, 1), max_size=60))
def test_dots_stay_in_their_lane(x):
    offset = spread_out(np.array(x), 60, 0.14)
    assert len(offset) == len(x) and np.all(np.abs(offset) <= 0.14)
    place = np.clip((np.array(x) * 60).astype(int), 0, 59)
    assert all(len(set(offset[place == here])) == np.sum(place == here) for here in place)


def test_links_lead_to_pages_and_headings_of_the_site():
    """A relative link of both pages is a page that the site writes; an anchor is a heading there."""
    bodies = {path: body for path, (_, body) in reading.pages().items()}
    others = {"index.html", "parameters.html", "teach.html", "licences.html"}
    for body in bodies.values():
        for link in re.findall(r'href="(?!https?:)([^"]*)"', body):
            path, _, anchor = link.partition("#")
            assert path in {*bodies, *others}, link
            assert not anchor or f'id="{anchor}"' in bodies[path]


@pytest.mark.parametrize("figure_id", IDS)
def test_each_figure_says_how_far_off_it_is(figure_id):
    """Its fold-out has the medians on rows not seen, those that the check prints."""
    held = comparison.in_words(figure_id)
    assert held in figure_html(figure_id)
    for group in comparison.HELD[figure_id]:
        assert f"{group}: the engines are off by {repairs.share(check.held_out()[group]['median_error'])}" in held


def test_a_page_has_no_script_and_no_second_main():
    for title, body in reading.pages().values():
        html = page(body, version="v", title=title)
        assert html.count("<main>") == html.count("</main>") == html.count("<h1") == 1 and 'type="module"' not in html
