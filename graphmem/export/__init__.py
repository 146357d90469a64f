"""Where a memory goes to be seen: files for graph programs and tables, pages, and the log itself."""

from graphmem.export.formats import FORMATS, Exported, Format
from graphmem.export.selection import Axis, Include

__all__ = ["FORMATS", "Axis", "Exported", "Format", "Include"]
