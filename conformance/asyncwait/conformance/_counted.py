"""How many there are of something, in words."""


def counted(count: int, one: str, more: str = "") -> str:
    """Return a number and the words for so many: "1 rule", "1,260 rules".

    Args:
        count: how many there are.
        one: the words for one.
        more: those for any other number; empty where an "s" behind the first makes them.
    """
    return f"{count:,} {one if count == 1 else more or f'{one}s'}"
