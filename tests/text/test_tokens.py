"""What becomes of single runs of characters: the conventions of GUM, one example each."""

from __future__ import annotations

import pytest

from h3n.text.tokens import tokenize


def shown(text: str) -> str:
    """Return the tokens with blanks between them and a bar between the words of one token."""
    return " ".join("|".join(token.words) for token in tokenize(text))


EXAMPLES = {
    "contractions": [
        ("I don't know.", "I do|n't know ."),
        ("We can’t, won't", "We ca|n’t , wo|n't"),
        ("I wouldn't've", "I would|n't|'ve"),
        ("You cannot and CANNOT", "You can|not and CAN|NOT"),
        ("We're gonna go, gotta go", "We|'re gon|na go , got|ta go"),
        ("dont", "do|nt"),
        ("I 'M HERE", "I 'M HERE"),
        ("dunno", "du|n|no"),
    ],
    "possessives": [
        ("John's dog", "John|'s dog"),
        ("the girls' school", "the girls|' school"),
        ("the 'best girls' here", "the ' best girls ' here"),
        ("‘kids’", "‘ kids ’"),
        ("mother-in-law's", "mother - in - law|'s"),
        ("2003's best, in the 80's", "2003|'s best , in the 80's"),
        ("O'Brien at 5 o'clock", "O'Brien at 5 o'clock"),
    ],
    "hyphens": [
        ("a well-known fact", "a well - known fact"),
        ("a non-profit e-mail", "a non-profit e-mail"),
        ("uh-huh, na-na-na", "uh-huh , na-na-na"),
        ("I was th- thinking", "I was th- thinking"),
        ("wrong--and", "wrong -- and"),
        ("a UN-led force", "a UN - led force"),
        ("1990-2000 and 15,000-strong", "1990 - 2000 and 15,000 - strong"),
        ("pages 1–10", "pages 1 – 10"),
    ],
    "numbers": [
        ("It cost $2,000.50!", "It cost $ 2,000.50 !"),
        ("50% of 1/2 at 6:00am", "50 % of 1/2 at 6:00 am"),
        ("5km on the 21st in the 1960s", "5 km on the 21st in the 1960s"),
        ("[13,14]", "[ 13 , 14 ]"),
        ("call 713-853-3989 or +4550981306", "call 713-853-3989 or +4550981306"),
        ("on 2020-01-31", "on 2020-01-31"),
        ("US$5 and €6", "US$ 5 and € 6"),
        ("24°C, 4chan", "24 ° C , 4chan"),
        (".227 hits", ".227 hits"),
    ],
    "abbreviations": [
        ("Dr. Smith, Ph.D., of Acme Inc.", "Dr. Smith , Ph.D. , of Acme Inc."),
        ("the U.S.A. (e.g. D.C.)", "the U.S.A. ( e.g. D.C. )"),
        ("at 9 a.m. sharp", "at 9 a.m. sharp"),
        ("J. R. Smith", "J. R. Smith"),
        ("So did I. You too", "So did I . You too"),
        ("No. 5? No. Never.", "No. 5 ? No . Never ."),
        ("No. we met last Wed. at 8", "No . we met last Wed. at 8"),
        ("Plan B.", "Plan B ."),
        ("1. First", "1. First"),
        ("vol.14", "vol. 14"),
        ("(b. March 2009)", "( b. March 2009 )"),
    ],
    "the web": [
        ("See http://a.org/x-y_(z)?q=1.", "See http://a.org/x-y_(z)?q=1 ."),
        ("(See http://a.org/Cake_(band)).", "( See http://a.org/Cake_(band) ) ."),
        ("(a.org/Cake_(band), http://a.org)", "( a.org/Cake_(band) , http://a.org )"),
        ("(www.example.com)", "( www.example.com )"),
        ("Mail jo.doe-x@mail.example.org, now", "Mail jo.doe-x@mail.example.org , now"),
        ("example.com/a-b/c.html;", "example.com/a-b/c.html ;"),
        ("#winning @user_1 #2", "#winning @user_1 # 2"),
        ("nice :) ;-) <3", "nice :) ;-) <3"),
    ],
    "emoji": [
        ("Hi👋🏽you", "Hi 👋🏽 you"),
        ("👩‍👩‍👧❤️🇩🇪🇫🇷", "👩‍👩‍👧 ❤️ 🇩🇪 🇫🇷"),
        ("1️⃣", "1️⃣"),
    ],
    "marks": [
        ('"Why?!" (she said...)', '" Why ?! " ( she said ... )'),
        ("“So…” ‘ho’", "“ So … ” ‘ ho ’"),
        ("and/or s/he 24/7", "and / or s/he 24/7"),
        ("AT&T, Q&A, you&me", "AT&T , Q&A , you & me"),
        ("word.Next www", "word . Next www"),
        ("the friend(s)", "the friend(s)"),
        ("`` old ''", "`` old ' '"),
    ],
    "other scripts": [
        ("नमस्ते दुनिया।", "नमस्ते दुनिया ।"),
        ("שלום, עולם", "שלום , עולם"),
        ("这是。好", "这是 。 好"),
        ("naïve cafe\u0301s", "naïve cafe\u0301s"),
    ],
    "spacing": [
        ("a\u00a0b\u3000c\u200bd\ufeffe", "a b c d e"),
        ("a\x00b\x1fc\x85d\ud800e", "a b c d e"),
        ("", ""),
        (" \t\n", ""),
    ],
}
PAIRS = [pytest.param(*pair, id=f"{kind}-{pair[0]!a}") for kind, pairs in EXAMPLES.items() for pair in pairs]


@pytest.mark.parametrize(("text", "tokens"), PAIRS)
def test_tokens(text: str, tokens: str) -> None:
    assert shown(text) == tokens


def test_offsets_count_from_the_given_one() -> None:
    first, second = tokenize("a  bc", offset=10)
    assert (first.start, first.end, second.start, second.end) == (10, 11, 13, 15)


def test_a_run_too_long_to_remember_is_taken_apart_alike() -> None:
    assert shown("well-known/" * 20) == " ".join(["well - known /"] * 20)
