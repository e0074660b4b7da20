"""Image files for models that look at pictures."""
import base64
import random
import zlib


def png(width, height, seed):
    """An image file of coloured stripes."""
    drawn = random.Random(seed)
    row = b"\0" + bytes(drawn.randrange(256) for _ in range(3 * width))

    def chunk(kind, data):
        return len(data).to_bytes(4, "big") + kind + data + zlib.crc32(kind + data).to_bytes(4, "big")

    head = width.to_bytes(4, "big") + height.to_bytes(4, "big") + b"\x08\x02\0\0\0"
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(row * height, 9)) + chunk(b"IEND", b"")


def image(file):
    """The part of a message that holds it."""
    return {"type": "image_url", "image_url": {"url": "data:image/png;base64," + base64.b64encode(file).decode()}}
