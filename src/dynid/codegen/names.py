"""Names from files as identifiers and comments: whatever they contain, they cannot break code or add any."""

from __future__ import annotations

import re
from collections.abc import Iterable

from dynid.errors import ArgumentError, quote

LONGEST = 48  # characters; the longest name built from it stays below the 63 that C compilers must tell apart
IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_KEYWORDS = """
auto break case char const continue default do double else enum extern float for goto if inline int long
register restrict return short signed sizeof static struct switch typedef union unsigned void volatile while
alignas alignof and and_eq asm bitand bitor bool catch class compl
concept consteval constexpr constinit decltype
delete dynamic_cast explicit export false friend mutable namespace new noexcept not not_eq nullptr operator or
or_eq private protected public reinterpret_cast requires static_assert static_cast template this thread_local
throw true try typeid typename using virtual wchar_t xor xor_eq
False None True as assert async await def del elif except finally from global import in is lambda nonlocal
pass raise with yield end function otherwise parfor persistent spmd
"""
KEYWORDS = frozenset(_KEYWORDS.split())  # of C99, C++, Python and MATLAB
_FILES = """
assert ccomplex complex cctype ctype cerrno errno cfenv fenv cfloat float inttypes iso646 limits locale math
setjmp signal stdalign stdarg stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string strings tgmath
threads time uchar unistd wchar wctype features endian sched fcntl memory malloc
numpy jax casadi sys os types enum abc io re site code token random copy operator
con prn aux nul com1 com2 com3 com4 com5 com6 com7 com8 com9 lpt1 lpt2 lpt3 lpt4 lpt5 lpt6 lpt7 lpt8 lpt9
"""
FILES = frozenset(_FILES.split())  # of C, Python and Windows, in whose place ours must not be found


def identifier(name: str, stem: str = "robot") -> str:
    """The name as an identifier of all our languages: ASCII letters, digits and _, a letter first."""
    text = re.sub(r"[^A-Za-z0-9]+", "_", name[: 4 * LONGEST]).strip("_")[:LONGEST].strip("_")
    if not text:
        return stem
    if not text[0].isalpha() or _taken(text):
        return f"{stem}_{text}"[:LONGEST]
    return text


def identifiers(names: Iterable[str], stem: str) -> list[str]:
    """As `identifier`, with numbers behind those that would come twice."""
    found: list[str] = []
    for name in names:
        plain = unique = identifier(name, stem)
        number = 1
        while unique in found:
            number += 1
            unique = f"{plain}_{number}"
        found.append(unique)
    return found


def _taken(text: str) -> bool:
    return text in KEYWORDS or text.lower() in FILES


def checked_prefix(prefix: str) -> str:
    """A prefix that a user chose, if it can be one."""
    if not IDENTIFIER.fullmatch(prefix) or len(prefix) > LONGEST or _taken(prefix):
        raise ArgumentError(
            f"the prefix {quote(prefix, 40)} cannot begin the names of functions: an identifier is needed, a "
            f"letter and then letters, digits or _, at most {LONGEST} characters, no keyword and not "
            "the name of a file that compilers look for"
        )
    return prefix


def comment(text: str) -> str:
    """Text for a comment on one line of any language: ASCII, short, with nothing that could end it."""
    shown = quote(text, 60)
    for ends, harmless in (("%", ""), ("\\", "|"), ("*/", "* /"), ("/*", "/ *"), ("??", "? ?"), ('"', "'")):
        shown = shown.replace(ends, harmless)
    return shown
