"""Program that runs alone in a sandbox: a PDF comes in by standard input, a page goes out as a PNG.

Without an argument it writes the number of pages. It imports nothing of grader.
"""

import resource
import struct
import sys
import zlib
from ctypes import c_char_p, string_at

WIDTH = 1100
MOST_PIXELS = 6_000_000
MEMORY = 1_500_000_000
SECONDS = 15


def main() -> None:
    """Render the page that the argument says."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    import pypdfium2.raw as pdfium

    content = sys.stdin.buffer.read()
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))
    pdfium.FPDF_InitLibrary()
    document = pdfium.FPDF_LoadMemDocument64(content, len(content), c_char_p(None))
    if not document:
        sys.exit(1)
    if len(sys.argv) == 1:
        sys.stdout.write(str(pdfium.FPDF_GetPageCount(document)))
        return
    page = pdfium.FPDF_LoadPage(document, int(sys.argv[1]) - 1)
    if not page:
        sys.exit(1)
    wide, high = pdfium.FPDF_GetPageWidthF(page), pdfium.FPDF_GetPageHeightF(page)
    if not (wide > 0 and high > 0):
        sys.exit(1)
    width = WIDTH
    height = max(1, round(width * high / wide))
    if width * height > MOST_PIXELS:
        shrink = (MOST_PIXELS / (width * height)) ** 0.5
        width, height = max(1, int(width * shrink)), max(1, int(height * shrink))
    bitmap = pdfium.FPDFBitmap_CreateEx(width, height, pdfium.FPDFBitmap_BGR, None, 0)
    pdfium.FPDFBitmap_FillRect(bitmap, 0, 0, width, height, 0xFFFFFFFF)
    flags = pdfium.FPDF_ANNOT | pdfium.FPDF_REVERSE_BYTE_ORDER
    pdfium.FPDF_RenderPageBitmap(bitmap, page, 0, 0, width, height, 0, flags)
    stride = pdfium.FPDFBitmap_GetStride(bitmap)
    pixels = string_at(pdfium.FPDFBitmap_GetBuffer(bitmap), stride * height)
    rows = b"".join(b"\0" + pixels[row * stride : row * stride + 3 * width] for row in range(height))
    sys.stdout.buffer.write(png(width, height, rows))


def png(width: int, height: int, rows: bytes) -> bytes:
    """Return a PNG of rows of red, green and blue, each behind a zero."""
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows, 6)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in chunks
    )


if __name__ == "__main__":
    main()
