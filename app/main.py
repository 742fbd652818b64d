"""The essay's figures on a Panel server: `panel serve app`."""
import sys
from importlib import import_module
from pathlib import Path

ROOT = str(Path(__file__).resolve().parents[1])
if ROOT not in sys.path:  # the server looks for modules beside this file only
    sys.path.insert(0, ROOT)

import_module("app.notebook").page().servable(title="Ten people press send")
