"""Names of files that every system takes."""

from __future__ import annotations

import pytest

from graphmem.export.filenames import file_stem


@pytest.mark.parametrize(
    ("name", "stem"),
    [
        ("nul.txt", "nul_.txt"),
        ("con.foo.bar", "con_.foo.bar"),
        ("CON .txt", "CON_.txt"),
        ("aux.", "aux_"),
        ("prn", "prn_"),
        ("COM1", "COM1_"),
        ("COM\u00b9", "COM\u00b9_"),
        ("lpt\u00b3.log", "lpt\u00b3_.log"),
        ("console", "console"),
        ("Connie.con", "Connie.con"),
        ("com12", "com12"),
        ("nul and void", "nul and void"),
    ],
)
def test_no_page_has_the_name_of_a_device_on_windows(name: str, stem: str) -> None:
    """What is before the first dot must be none, in capitals or not, also with a space after it."""
    assert file_stem(name) == stem
