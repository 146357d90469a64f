"""Messages that say nothing to remember: greetings, thanks, laughter, emoji. They cost no question."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

_LONGEST = 60

_GREETINGS = """
hi, hey, heya, hiya, hello, hello there, hi there, hey there, howdy, yo, good morning, good afternoon, good evening,
good night, welcome back, bye, bye bye, byebye, goodbye, cya, see you, see ya, see you soon, see you later, take care,
thanks, thank you, thanks a lot, thanks so much, thank you so much, thank you very much, many thanks, thx, cheers,
much appreciated, you're welcome, youre welcome, haha, hahaha, hehe, lol, rofl, lmao, hallo, hi zusammen, guten morgen,
guten tag, guten abend, gute nacht, moin, servus, tschüss, tschüs, bis bald, bis später, danke, danke schön, dankeschön,
danke sehr, vielen dank, gern geschehen, salut, bonjour, bonsoir, bonne nuit, coucou, au revoir, à bientôt, à plus, merci,
merci beaucoup, de rien, je vous en prie, hola, buenas, buenos días, buenas tardes, buenas noches, adiós, chao, hasta luego,
hasta pronto, gracias, muchas gracias, de nada, jaja, jajaja, olá, oi, bom dia, boa tarde, boa noite, tchau, até logo,
obrigado, obrigada, muito obrigado, muito obrigada, ciao, buongiorno, buonasera, buonanotte, arrivederci, a presto, grazie,
grazie mille, hoi, goedemorgen, goedemiddag, goedenavond, doei, tot ziens, dank je, dank je wel, dankjewel, bedankt,
graag gedaan, hej, hejsan, god morgon, tack, tack så mycket, hei, takk, tusen takk, kiitos, cześć, dzień dobry, dobranoc,
dzięki, dziękuję, ahoj, dobrý den, děkuji, díky, merhaba, selam, günaydın, iyi akşamlar, iyi geceler, teşekkürler,
teşekkür ederim, sağ ol, görüşürüz, привет, здравствуйте, доброе утро, добрый день, добрый вечер, спокойной ночи, пока,
до свидания, спасибо, большое спасибо, спасибо большое, привіт, добрий день, доброго ранку, дякую, щиро дякую, до побачення,
бувай, مرحبا, مرحباً, أهلا, أهلاً, السلام عليكم, وعليكم السلام, صباح الخير, مساء الخير, شكرا, شكراً, شكرا جزيلا,
شكراً جزيلاً, عفوا, مع السلامة, नमस्ते, नमस्कार, शुभ प्रभात, धन्यवाद, शुक्रिया, बहुत धन्यवाद, अलविदा, שלום, תודה, תודה רבה,
להתראות, γεια, γεια σου, καλημέρα, ευχαριστώ, 안녕, 안녕하세요, 감사합니다, 고마워, 고마워요, 안녕히 가세요, 잘 자, xin chào,
cảm ơn, halo, terima kasih, selamat pagi, jambo, asante
"""
_REPLIES = """
yes, yeah, yep, yup, no, nope, nah, ok, okay, k, sure, of course, absolutely, definitely, exactly, right, true, agreed,
fine, deal, great, nice, cool, awesome, amazing, wow, perfect, wonderful, good, very good, sounds good, sounds great, got it,
i see, me too, same here, maybe, not yet, ja, nein, doch, klar, genau, gut, super, toll, schön, oui, non, si, d'accord, bien,
très bien, sí, claro, vale, sim, não, bem, sì, va bene, certo, bene, nee, prima, tak, nie, dobrze, evet, hayır, tamam, да,
нет, хорошо, ладно, конечно, так, ні, добре, نعم, لا, حسنا, حسناً, تمام, हाँ, हां, नहीं, ठीक है, כן, לא, בסדר, ναι, όχι, 네,
예, 아니요, 아니, 응, 좋아요, morning, welcome, everyone, everybody, all, guys, folks, team, again, and, so, well, moi,
bitte, bitte schön, gerne, prego, anytime, my pleasure, no problem, no worries, see you tomorrow, bis morgen, à demain,
hasta mañana, até amanhã, a domani, tot morgen, hmm, oh, ah, aww, ty, пожалуйста, до завтра, salve, valeu
"""
_UNSPACED_GREETINGS = """
你好 您好 大家好 早上好 早安 晚上好 晚安 再见 拜拜 明天见 谢谢 谢谢你 谢谢您 多谢 谢啦 不客气 哈哈 呵呵 嗨 哈喽 您早
こんにちは こんばんは おはよう おはようございます おやすみ おやすみなさい さようなら またね また明日 ありがとう
ありがとうございます どうもありがとう どうも どういたしまして お疲れ様 お疲れ様です お疲れさまです やあ สวัสดี ขอบคุณ
"""
_UNSPACED_REPLIES = """
是 是的 对 不是 不 好 好的 好啊 行 可以 没有 有 嗯 はい いいえ うん ううん そうです 了解 了解です わかりました いいですね ใช่
ไม่
"""
_SIGNS_OF_REPLY = frozenset("👍👎✅❌✔✖🙅🙆👌🤷")
_QUESTION = re.compile(r"[?？؟\u037e\u055e\u061f]|[かの吗嗎呢][。.！!]?\s*$|까[.!]?\s*$")


def _phrases(*lists: str) -> frozenset[str]:
    return frozenset(_bare(phrase) for listed in lists for phrase in listed.replace("\n", " ").split(","))


def _bare(text: str) -> str:
    """Lower case, letters and digits alone, words apart by one space."""
    folded = unicodedata.normalize("NFKC", text).casefold().replace("’", "'").replace("'", "")
    return " ".join("".join(c if unicodedata.category(c)[0] in "LNM" else " " for c in folded).split())


def is_question(text: str) -> bool:
    """Whether a text asks something."""
    return _QUESTION.search(text) is not None


def says_nothing(text: str, answers_question: bool, people: Iterable[str] = ()) -> bool:
    """Whether a text is nothing but greetings, thanks, laughter and signs, addressed to one of `people` or to nobody.

    A yes, a no or an "okay" says nothing either, unless it answers a question. When in doubt: False.

    >>> says_nothing("Hey, thanks! 😊", False), says_nothing("Yes.", True), says_nothing("Yes.", False), says_nothing("Hi, I moved.", False)
    (True, False, True, False)
    """
    if len(text) > _LONGEST:
        return False
    bare = _bare(text)
    if not bare:
        return not (answers_question and _SIGNS_OF_REPLY & set(text))
    called = {word for person in people for word in _bare(person).split()}
    said = [word for word in bare.split() if word not in called]
    if not said:
        return False
    spaced = _GREETING if answers_question else _GREETING | _REPLY
    unspaced = _GLUED_GREETING if answers_question else _GLUED
    return _made_of(said, spaced) or unspaced.fullmatch(bare) is not None


def _made_of(words: list[str], phrases: Iterable[str]) -> bool:
    """Whether the words are phrases one after another, the longest first."""
    at = 0
    while at < len(words):
        size = next((n for n in range(min(4, len(words) - at), 0, -1) if " ".join(words[at : at + n]) in phrases), 0)
        if not size:
            return False
        at += size
    return True


def _glued(*lists: str) -> re.Pattern[str]:
    listed = sorted({_bare(p) for one in lists for p in one.split()}, key=len, reverse=True)
    return re.compile(f"(?:{'|'.join(map(re.escape, listed))}| )+")


_GREETING, _REPLY = _phrases(_GREETINGS), _phrases(_REPLIES)
_GLUED_GREETING, _GLUED = _glued(_UNSPACED_GREETINGS), _glued(_UNSPACED_GREETINGS, _UNSPACED_REPLIES)
