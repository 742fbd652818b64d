"""`build.py bench`: how soon the page is there, against the same app as Panel's own conversion makes it. Ratios first.

All numbers are medians of the rounds of one run on one machine; a fresh browser profile for every cold start.
"""

import sys
from statistics import median, quantiles

from playwright.sync_api import Playwright, sync_playwright

from building import browsers, rival, visits
from building.places import Places

ROUNDS = 5
MOVES = 40
LIVE, FIRST = "python-live", "first-figure"
MB = 1e6


def run(places: Places, rounds: int = ROUNDS) -> int:
    """Measures and prints; returns the exit status, 1 where a bound of `BOUNDS` is missed."""
    executable = browsers.environment(places)["CHROMIUM"]
    folder = rival.conversion(places)
    with sync_playwright() as playwright:
        times = starts(places, folder, playwright, executable, rounds)
        bounds = ratios(times)
        print_starts(times)
        for compressed in (True, False):
            bounds += stages(places, playwright, executable, compressed)
        use(places, playwright, executable)
        bounds += slow_phone(places, playwright, executable, rounds)
    missed = [words for words, holds in bounds if not holds]
    for words in missed:
        print(f"missed: {words}")
    return 1 if missed else 0


def starts(places: Places, folder, playwright: Playwright, executable: str, rounds: int) -> dict[str, list[dict]]:
    """{way and visit: marks of each round}: every round visits each way cold and warm, so that all have the same machine."""
    found: dict[str, list[dict]] = {}
    with visits.served(places.dist) as ours, visits.served(folder, lasting=True) as stock:
        ways = (("snapshot", ours.address, True), ("stock", stock.address, False), ("modules", ours.address + "?boot=modules", True))
        for number in range(rounds):
            for way, address, kept in ways:
                with visits.profile(playwright, executable) as context:
                    for nth in ("cold", "warm"):
                        print(f"round {number + 1} of {rounds}: {way}, {nth}", file=sys.stderr)
                        found.setdefault(f"{way} {nth}", []).append(visits.visit(context, address, kept and nth == "cold"))
    return found


def middle(times: list[dict], mark: str) -> float:
    """The median of one mark, ms."""
    return median(one[mark] for one in times)


def ratios(times: dict[str, list[dict]]) -> list[tuple[str, bool]]:
    """Prints how many times sooner than the conversion; returns the bounds."""
    bounds = []
    print("Times sooner than the same app as Panel converts it (full wheels through micropip)")
    for mark, least in ((LIVE, 8), (FIRST, 12)):
        for nth in ("cold", "warm"):
            ratio = middle(times[f"stock {nth}"], mark) / middle(times[f"snapshot {nth}"], mark)
            words = f"{mark}, {nth}: {ratio:.1f} times (at least {least})"
            print(f"  {words}")
            bounds.append((words, ratio >= least))
    return bounds


def print_starts(times: dict[str, list[dict]]) -> None:
    print("\nFrom the navigation, ms (median of", len(times["stock cold"]), "and the range)")
    for way, rows in times.items():
        for mark in (FIRST, LIVE):
            values = [row[mark] for row in rows]
            print(f"  {way:14} {mark:13} {median(values):7.0f}   {min(values):.0f} to {max(values):.0f}")


def stages(places: Places, playwright: Playwright, executable: str, compressed: bool) -> list[tuple[str, bool]]:
    """Prints the bytes that a first visit takes until each mark."""
    with visits.served(places.dist, compressed=compressed) as site, visits.profile(playwright, executable) as context:
        found = visits.visit(context, site.address)
        begin_s = found["begin"] / 1000
        sizes = {mark: sum(site.until(begin_s + found[mark] / 1000).values()) for mark in (FIRST, LIVE)}
    host = "a host with brotli" if compressed else "a host that compresses nothing"
    print(f"\nBytes asked of {host}: {FIRST} {sizes[FIRST] / 1000:.0f} kB, {LIVE} {sizes[LIVE] / MB:.1f} MB in all")
    most = 15 if compressed else 19
    bounds = [(f"{LIVE} within {most} MB of {host}: {sizes[LIVE] / MB:.1f}", sizes[LIVE] <= most * MB)]
    if compressed:
        bounds.append((f"{FIRST} within 900 kB: {sizes[FIRST] / 1000:.0f}", sizes[FIRST] <= 900_000))
    return bounds


def use(places: Places, playwright: Playwright, executable: str) -> None:
    """Prints how soon a slider is answered by Python, and the gaps between the frames of each figure while it plays."""
    with visits.served(places.dist) as site, visits.profile(playwright, executable) as context:
        page = context.new_page()
        page.goto(site.address)
        visits.marks(page)
        page.wait_for_selector("html[data-kept]", state="attached")
        print("\nA moved slider (kv-memory, users), from input to changed page, ms: median, 95%")
        for times in (1, 4):
            visits.slowed(page, times)
            taken = visits.slider(page, "kv-memory", "users", MOVES)
            print(f"  {'page slowed 4 times' if times > 1 else 'as this machine is':26} {median(taken):5.0f} {share(taken, 95):5.0f}")
        print("\nBetween animation frames during 5 s of play, ms: median, 95%, longest; and with the page's thread slowed 4 times")
        for figure in sorted(path.name.split(".")[0] for path in (places.dist / "figures").iterdir()):
            rows = []
            for times in (1, 4):
                visits.slowed(page, times)
                found = visits.gaps(page, figure)
                rows.append(f"{median(found):6.1f} {share(found, 95):6.1f} {max(found):6.1f}")
            print(f"  {figure:16} {'  |'.join(rows)}")


def share(values: list[float], percent: int) -> float:
    """The value that `percent` of them do not exceed."""
    return quantiles(values, n=100, method="inclusive")[percent - 1]


def slow_phone(places: Places, playwright: Playwright, executable: str, rounds: int) -> list[tuple[str, bool]]:
    """Prints a slow phone's first visit; returns the bounds."""
    rows = []
    with visits.served(places.dist) as site:
        for _ in range(rounds):
            with visits.profile(playwright, executable, viewport=visits.PHONE_SIZE, is_mobile=True, has_touch=True) as context:
                since = len(site.sent)
                rows.append(visits.phone(context, site.address, "prefill-decode", "prompt"))
                rows[-1]["python"] = float(any(path.startswith("python/pyodide") for _, path, _ in site.sent[since:]))
    print("\nA slow phone (390 x 844, page's thread slowed 4 times, 150 ms, 1.6 Mbit/s), ms")
    bounds = []
    for words, mark, most in (("prose painted", "first-contentful-paint", 900), ("first figure playable", FIRST, 6000),
                              ("its main slider answered", "answer", 7000)):
        taken = middle(rows, mark)
        print(f"  {words:26} {taken:6.0f} (at most {most})")
        bounds.append((f"{words} on a slow phone: {taken:.0f} ms of {most}", taken <= most))
    asked = any(row["python"] for row in rows)
    print(f"  Python was {'' if asked else 'not '}fetched unasked")
    return [*bounds, ("Python not fetched unasked on a slow phone", not asked)]
