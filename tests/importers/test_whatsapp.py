"""WhatsApp's text export."""

from datetime import datetime
from pathlib import Path

import pytest
from exporting import texts, written, zipped

from graphmem import importers
from graphmem.errors import InvalidInput

IOS = """\
[12/31/23, 9:59:58\u202fPM] Mira Okafor: \u200eMessages and calls are end-to-end encrypted.
[12/31/23, 10:00:00\u202fPM] Mira Okafor: I moved to Porto.\r
It rains: a lot.\r

Still nice.\r
\u200e[1/1/24, 12:05:00\u202fAM] ~\u202fDanylo: \u200eimage omitted
[1/1/24, 12:06:00\u202fAM] \u202a+351 912 345 678\u202c: Happy new year! \u200e<This message was edited>
[1/1/24, 12:07:00\u202fAM] ~\u202fDanylo: \u200eThis message was deleted.
[1/1/24, 12:08:00\u202fAM] ~\u202fDanylo: The view \u200e<attached: 00012-PHOTO.jpg>
"""
ANDROID = """\
31/12/2023, 21:59 - Messages and calls are end-to-end encrypted. No one outside of this chat can read them.
31/12/2023, 22:00 - Mira Okafor: I moved to Porto.
It rains: a lot.
31/12/2023, 22:01 - Mira Okafor changed the subject from "Trip: Porto" to "Porto"
01/01/2024, 00:05 - Danylo: <Media omitted>
01/01/2024, 00:06 - Danylo: IMG-20240101-WA0001.jpg (file attached)
The view
01/01/2024, 00:07 - Danylo: This message was deleted
01/01/2024, 00:08 - Danylo: null
01/01/2024, 00:08 - Danylo: <Mídia oculta>
01/01/2024, 00:09 - Danylo: <html>
01/01/2024, 00:09 - Mira Okafor: @⁨Danylo⁩ see https://example.org: great
"""


def chat(tmp_path: Path, text: str, **options: object) -> importers.Reading:
    """What is read from a file of this text."""
    return importers.read(written(tmp_path / "WhatsApp Chat with Porto.txt", text), format="whatsapp", **options)  # type: ignore[arg-type]


def moments(reading: importers.Reading) -> list[str]:
    """When it was said."""
    return [datetime.isoformat(i.row["reference_time"]) for i in reading]  # type: ignore[arg-type]


def test_an_export_of_ios(tmp_path: Path) -> None:
    """Lines that go on, marks of direction, narrow spaces, names of strangers, captions."""
    reading = chat(tmp_path, IOS, timezone="Europe/Lisbon")
    items = list(reading)

    assert texts(items) == [
        ("Mira Okafor", "I moved to Porto.\nIt rains: a lot.\n\nStill nice."),
        ("+351 912 345 678", "Happy new year!"),
        ("Danylo", "The view"),
    ]
    assert moments(iter(items)) == ["2023-12-31T22:00:00+00:00", "2024-01-01T00:06:00+00:00", "2024-01-01T00:08:00+00:00"]  # type: ignore[arg-type]
    assert reading.left_out == {"system lines": 1, "media without text": 1, "deleted messages": 1}
    assert items[1].place.endswith("Porto.txt:7")


def test_an_export_of_android(tmp_path: Path) -> None:
    """System lines may have a colon, and words too; captions stay."""
    reading = chat(tmp_path, ANDROID)
    items = list(reading)

    assert texts(items) == [
        ("Mira Okafor", "I moved to Porto.\nIt rains: a lot."),
        ("Danylo", "The view"),
        ("Danylo", "<html>"),
        ("Mira Okafor", "@Danylo see https://example.org: great"),
    ]
    assert moments(iter(items))[0] == "2023-12-31T22:00:00+00:00"  # type: ignore[arg-type]
    assert (items[0].row["session"], items[0].row["source"]) == ("Porto", "whatsapp/Porto")
    assert reading.left_out == {"system lines": 2, "media without text": 3, "deleted messages": 1}


@pytest.mark.parametrize(
    ("line", "time"),
    [
        ("[31/12/23, 22:00:05] A: x", "2023-12-31T22:00:05"),
        ("[31.12.23, 22:00:05] A: x", "2023-12-31T22:00:05"),
        ("[31.12.2023 klo 22.00.05] A: x", "2023-12-31T22:00:05"),
        ("[2023-12-31, 10:00:05 p.\u00a0m.] A: x", "2023-12-31T22:00:05"),
        ("2023/12/31, 22:00 - A: x", "2023-12-31T22:00:00"),
        ("31.12.23, 22:00 - A: x", "2023-12-31T22:00:00"),
        ("12/31/23, 12:00 AM - A: x", "2023-12-31T00:00:00"),
        ("31/12/2023, 12:30\u202fpm - A: x", "2023-12-31T12:30:00"),
        ("31-12-2023 22:00 - A: x", "2023-12-31T22:00:00"),
        ("\ufeff[31/12/23, 22:00:05] A: x", "2023-12-31T22:00:05"),
        ("[2023/12/31 下午10:00:05] A: x", "2023-12-31T22:00:05"),
        ("[2023. 12. 31. 오전 10:00:05] A: x", "2023-12-31T10:00:05"),
        ("31/12/2023, 10:00 م - A: x", "2023-12-31T22:00:00"),
        ("٣١/١٢/٢٠٢٣, ٢٢:٠٠ - A: x", "2023-12-31T22:00:00"),
    ],
)
def test_dates_of_many_countries(tmp_path: Path, line: str, time: str) -> None:
    """Orders, separators, clocks of twelve hours and digits of other scripts."""
    assert moments(chat(tmp_path, line)) == [f"{time}+00:00"]


def lines(*dates: str) -> str:
    """A message a date."""
    return "".join(f"{d}, 10:00 - A: said on {d}\n" for d in dates)


@pytest.mark.parametrize(
    ("dates", "first"),
    [
        (("03/04/2024", "13/04/2024"), "2024-04-03"),
        (("03/04/2024", "03/13/2024"), "2024-03-04"),
        (("3.4.2024",), "2024-04-03"),
        (("05/05/2024",), "2024-05-05"),
        (("10/04/2024", "11/04/2024", "01/05/2024"), "2024-04-10"),
        (("04/10/2024", "04/11/2024", "05/01/2024"), "2024-04-10"),
        (("10/04/2024", "09/04/2024", "11/04/2024", "01/05/2024", "02/06/2024", "01/07/2024"), "2024-04-10"),
    ],
)
def test_the_whole_file_says_what_is_the_day(tmp_path: Path, dates: tuple[str, ...], first: str) -> None:
    """A number over twelve, points, or the course of time, in which a message may come late."""
    assert moments(chat(tmp_path, lines(*dates)))[0].startswith(first)


def test_where_nothing_says_it_the_error_names_a_line_and_the_options(tmp_path: Path) -> None:
    """And the option decides."""
    text = lines("05/05/2024", "06/07/2024", "07/08/2024")
    with pytest.raises(InvalidInput, match=r"Porto\.txt:2='06/07/2024'.*--day-first or --month-first"):
        list(chat(tmp_path, text))

    assert moments(chat(tmp_path, text, dayfirst=True))[1] == "2024-07-06T10:00:00+00:00"
    assert moments(chat(tmp_path, text, dayfirst=False))[1] == "2024-06-07T10:00:00+00:00"


@pytest.mark.parametrize(
    ("dates", "option", "said"),
    [
        (("01/02/2024", "13/02/2024"), False, r":2='13/02/2024': can only be read --day-first"),
        (("01/02/2024", "02/13/2024"), True, r":2='02/13/2024': can only be read --month-first"),
        (("13/02/2024", "02/14/2024"), None, r":1='13/02/2024': begins with the day, but line 2 with the month"),
        (("31/02/2024",), None, r":1='31/02/2024': no such day where dates are day first"),
    ],
)
def test_dates_that_cannot_be_are_named(tmp_path: Path, dates: tuple[str, ...], option: bool | None, said: str) -> None:
    """With their line."""
    with pytest.raises(InvalidInput, match=said):
        list(chat(tmp_path, lines(*dates), dayfirst=option))


def test_what_looks_like_a_date_in_a_message_stays_in_it(tmp_path: Path) -> None:
    """Impossible times, and the style of the other system."""
    text = "31/12/2023, 22:00 - A: log\n31/12/2023, 25:00 - B: no\n[31/12/23, 22:00:00] C: quoted\n1/2/3"

    assert [t for _, t in texts(list(chat(tmp_path, text)))] == [text.partition(": ")[2]]


def test_keys_hold_when_the_file_grows_or_is_called_otherwise(tmp_path: Path) -> None:
    """Same words in the same minute are two messages; zone and copy's name change nothing; another chat does."""
    same = "31/12/2023, 22:00 - A: ok\n"
    first = [i.row["key"] for i in chat(tmp_path, same * 2)]
    grown = [i.row["key"] for i in chat(tmp_path, same * 2 + "31/12/2023, 22:01 - A: ok\n", timezone="Asia/Tokyo")]
    copy = importers.read(written(tmp_path / "WhatsApp Chat with Porto (1).txt", same), format="whatsapp")
    ios = importers.read(zipped(tmp_path / "WhatsApp Chat - Porto.zip", {"_chat.txt": same, "1.jpg": ""}))
    other = importers.read(written(tmp_path / "WhatsApp Chat with Lisbon.txt", same), format="whatsapp")

    assert len(set(first)) == 2
    assert grown[:2] == first
    assert [i.row["key"] for i in copy] == [i.row["key"] for i in ios] == first[:1]
    assert next(other).row["key"] not in first


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_other_encodings_are_read(tmp_path: Path, encoding: str) -> None:
    """With and without a byte order mark."""
    file = tmp_path / "chat.txt"
    file.write_bytes("31/12/2023, 22:00 - Åsa: blåbär 🫐\n".encode(encoding))

    assert texts(list(importers.read(file))) == [("Åsa", "blåbär 🫐")]


def test_bytes_that_are_no_text_are_named(tmp_path: Path) -> None:
    """By their place in the file."""
    file = tmp_path / "chat.txt"
    file.write_bytes(b"31/12/2023, 22:00 - A: caf\xe9 ol\xe9\n")
    with pytest.raises(InvalidInput, match=r"chat\.txt=b'\\xe9': must be UTF-8 or UTF-16; is not at byte 26; save the file as UTF-8"):
        list(importers.read(file, format="whatsapp"))


@pytest.mark.parametrize("text", ["", "no chat", "31/12/2023 nothing"])
def test_a_text_without_messages_is_an_error(tmp_path: Path, text: str) -> None:
    """It shows how lines begin."""
    with pytest.raises(InvalidInput, match=r"no line begins as WhatsApp's do, for instance"):
        list(chat(tmp_path, text))


def test_lines_before_the_first_message_are_counted(tmp_path: Path) -> None:
    """Somebody's heading is no message."""
    reading = chat(tmp_path, "My chat\n\n31/12/2023, 22:00 - A: hi\n31/12/2023, 22:00 - B:\n")

    assert len(list(reading)) == 1
    assert reading.left_out == {"lines before the first message": 1, "messages without text": 1}


@pytest.mark.parametrize("name", ['Jonas "JJ" Weber', "Jonas „JJ“ Weber", "Jonas «JJ» Weber"])
def test_a_nickname_in_quotes_is_a_name(tmp_path: Path, name: str) -> None:
    """And what is quoted with a colon in it is still no name."""
    told = f'02/13/2025, 18:41 - {name}: I live in Porto.\n02/13/2025, 18:42 - Mira changed the subject from "Trip: Porto" to "Porto"\n'
    reading = chat(tmp_path, told)

    assert texts(list(reading)) == [(name, "I live in Porto.")]
    assert reading.left_out == {"system lines": 1}
