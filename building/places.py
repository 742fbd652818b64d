"""Where a build reads and writes."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Places:
    """The folders of one build, all below `root`, the folder of the sources."""

    root: Path

    @property
    def cache(self) -> Path:
        """What is expensive to get or make, by content; deleting it costs time only."""
        return self.root / ".cache"

    @property
    def parts(self) -> Path:
        """Downloaded and checked parts."""
        return self.cache / "parts"

    @property
    def dist(self) -> Path:
        """The site, replaced as a whole."""
        return self.root / "dist"

    @property
    def static(self) -> Path:
        """Files of the page that are copied as they are."""
        return self.root / "static"

    @property
    def venv(self) -> Path:
        """The build's own Python packages."""
        return self.root / ".venv"
