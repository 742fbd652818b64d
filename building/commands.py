"""The commands of `build.py`. Standard library only until `run`: the packages are not there before."""

import argparse
import re
import sys
from pathlib import Path

from building import venv
from building.faults import Fault


def parser() -> argparse.ArgumentParser:
    """What may stand on the command line."""
    main = argparse.ArgumentParser(prog="build.py", description="Builds the essay's site into dist/; without a command, only that.")
    main.add_argument("--address", type=address, default="", metavar="URL",
                      help="where the site will be published; oEmbed needs it, all else is relative")
    commands = main.add_subparsers(dest="command", metavar="COMMAND")
    serving = commands.add_parser("serve", help="build what is missing and serve it on this machine")
    serving.add_argument("--host", default="127.0.0.1")
    serving.add_argument("--port", type=port, default=8000)
    benching = commands.add_parser("bench", help="build and measure: how soon the page is there, against a stock conversion")
    benching.add_argument("--rounds", type=int, default=5, choices=range(1, 21), metavar="N", help="of each start; default 5")
    commands.add_parser("test", help="build and run every test, browser included; what follows is for pytest", add_help=False)
    return main


def parse(arguments: list[str]) -> argparse.Namespace:
    """The options; what follows `test` stands in `rest`, for pytest."""
    if arguments[:1] == ["test"]:
        return argparse.Namespace(command="test", address="", rest=arguments[1:])
    return parser().parse_args(arguments)


def address(text: str) -> str:
    """The site's address, ending with a slash; "" where it is not known."""
    if not text:
        return ""
    if not re.fullmatch(r"https?://[^\s?#]+", text):
        raise argparse.ArgumentTypeError(f"an address is like https://example.org/essay/, not {text!r}")
    return text.rstrip("/") + "/"


def port(text: str) -> int:
    """A port's number; 0 takes a free one."""
    number = int(text) if text.isdecimal() else -1
    if not 0 <= number <= 65535:
        raise argparse.ArgumentTypeError(f"a port is a number from 0 to 65535, not {text!r}")
    return number


def main(arguments: list[str], root: Path) -> int:
    """Carries out a command; returns the exit status. A fault is one line on standard error."""
    options = parse(arguments)
    try:
        venv.enter(root, "requirements-test.txt" if options.command in ("test", "bench") else "requirements.txt")
        return run(options, root)
    except Fault as fault:
        print(f"build.py: {fault}", file=sys.stderr)
        return fault.status
    except KeyboardInterrupt:
        return 130


def run(options: argparse.Namespace, root: Path) -> int:
    """The command itself, inside the build's environment."""
    from building import site  # needs the packages that `venv.enter` has seen to
    from building.places import Places

    places = Places(root)
    site.build(places, options.address)
    if options.command == "serve":
        from building import serve
        serve.serve(places.dist, options.host, options.port)
    if options.command == "bench":
        from building import bench
        return bench.run(places, options.rounds)
    if options.command == "test":
        from building import test
        return test.run(places, options.rest)
    return 0
