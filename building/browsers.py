"""The browsers that the tests drive, and what drives them: Debian's packages, and puppeteer-core from npm for Firefox."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from building import parts
from building.faults import Fault, last_line
from building.files import cached_folder, sha256
from building.places import Places

CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
OTHERS = {"firefox-esr": "firefox-esr", "WebKitWebDriver": "webkit2gtk-driver", "Xvfb": "xvfb"}  # command: Debian's package
FIREFOX = Path("tests", "browser", "firefox")
APT = ["apt-get", "-o", "Acquire::Retries=1", "-qq"]


def environment(places: Places) -> dict[str, str]:
    """Variables for the tests: CHROMIUM (its path) and PUPPETEER (a folder from which Node drives Firefox).

    Installs what is missing where that may be done. Raises `Fault` without Chromium; without the others it says so, and
    their tests fail.
    """
    missing = [package for command, package in OTHERS.items() if not shutil.which(command)]
    install([*missing, *([] if chromium() else ["chromium"])])
    if not chromium():
        raise Fault("the browser's tests need Chromium, which is not installed; install your system's chromium package")
    for command, package in OTHERS.items():
        if not shutil.which(command):
            print(f"{package} is not installed and could not be: the tests that need it will fail", file=sys.stderr)
    found = {"CHROMIUM": chromium()}
    try:
        found["PUPPETEER"] = str(puppeteer(places))
    except Fault as fault:
        print(f"{fault}: the tests in Firefox will fail", file=sys.stderr)
    return found


def chromium() -> str:
    """The path of Chromium, or ""."""
    return next((path for name in CHROMIUM if (path := shutil.which(name))), "")


def install(packages: list[str]) -> None:
    """Asks Debian's packages for `packages`; where this may not be done, nothing happens."""
    if not packages or not shutil.which("apt-get") or os.geteuid() != 0:
        return
    print(f"installing {', '.join(packages)} for the browser's tests (once)", file=sys.stderr)
    for command in (["update"], ["install", "-y", "--no-install-recommends", *packages]):
        subprocess.run([*APT, *command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"})


def puppeteer(places: Places) -> Path:
    """A folder with `visit.mjs` and the packages that its lock file pins by their hashes."""
    sources = [places.root / FIREFOX / name for name in ("package.json", "package-lock.json", "visit.mjs")]

    def fill(folder: Path) -> None:
        for source in sources:
            shutil.copy(source, folder)
        npm = parts.NODE_HOME / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
        done = subprocess.run([str(parts.node()), str(npm), "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--silent",
                               "--no-bin-links"], capture_output=True, text=True, cwd=folder)
        if done.returncode:
            raise Fault(f"npm could not install puppeteer-core (is the network there?): {last_line(done.stderr)}")
    return cached_folder(places.parts, "puppeteer-" + sha256(b"".join(path.read_bytes() for path in sources))[:16], fill)
