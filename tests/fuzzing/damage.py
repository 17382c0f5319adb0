"""Damage to bytes, drawn from a seeded generator."""

#: What is put into files: what separates, quotes and ends, what looks like numbers or nothing, halves of characters.
PIECES = [
    b"", b" ", b",", b";", b"\t", b'"', b'""', b"\n", b"\r", b"\r\n", b"\0", b"\xff", b"\xc3", b"\xef\xbb\xbf",
    b"\xf0\x9f", b"0", b"1", b"-1", b"1e999", b"NaN", b"inf", b"null", b"A", b"a", b"=1+1", b"\x1c", b"\xe2\x80\xa8",
    b"\x85", b"\xa0", b"{", b"}", b"[", b"]", b":", b"true", b'"x"', b"9" * 400, b"x" * 5000,
]  # fmt: skip


def damaged(data, rng, most=4):
    """Bytes with a few changes: flipped, cut out, put in, doubled, swapped, or cut off."""
    data = bytearray(data)
    for _ in range(int(rng.integers(1, most + 1))):
        if not data:
            break
        at = int(rng.integers(len(data)))
        end = min(len(data), at + int(rng.integers(1, 20)))
        match int(rng.integers(6)):
            case 0:
                data[at] ^= 1 << int(rng.integers(8))
            case 1:
                del data[at:end]
            case 2:
                data[at:at] = PIECES[int(rng.integers(len(PIECES)))]
            case 3:
                data[at:at] = data[at:end]
            case 4:
                other = int(rng.integers(len(data)))
                data[at], data[other] = data[other], data[at]
            case _:
                if rng.random() < 0.2:
                    del data[at:]
    return bytes(data)


def tried(read, error):
    """What a reading gives, and None; or None, and the words in which the file is refused."""
    try:
        return read(), None
    except error as problem:
        return None, str(problem)
