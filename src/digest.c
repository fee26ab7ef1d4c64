/* digest.c: two chains of 64 bits, each of which multiplies by an odd number and folds its upper
 * half into the lower one at every word, which is undone by nothing that a later word does
 * (digest.h). */
#include <math.h>
#include <string.h>
#include "digest.h"

static const uint64_t BY_A = 0x9e3779b97f4a7c15u, BY_B = 0xd6e8feb86659fd93u; /* odd */

sg_digest sg_digest_new(void)
{
    const sg_digest out = {0x243f6a8885a308d3u, 0x13198a2e03707344u}; /* digits of pi */
    return out;
}

/* Adds one word to both chains. */
static void add_word(sg_digest *digest, uint64_t word)
{
    digest->a = (digest->a ^ word) * BY_A;
    digest->a ^= digest->a >> 32;
    digest->b = (digest->b + word) * BY_B;
    digest->b ^= digest->b >> 29;
}

/* Adds the bits of each number. R's NA is the NaN whose lower word is 1954, and has two forms. */
void sg_digest_doubles(sg_digest *digest, size_t n, const double *x)
{
    enum { NA = 1954 };
    const uint64_t nan = 0x7ff8000000000000u, low = 0xffffffffu;
    for (size_t i = 0; i < n; i++) {
        uint64_t word;
        memcpy(&word, x + i, sizeof word);
        if (isnan(x[i])) word = (word & low) == NA ? nan + NA : nan;
        add_word(digest, word);
    }
}

/* Adds words of eight bytes, the first one lowest, and the number of bytes. */
void sg_digest_text(sg_digest *digest, size_t n, const unsigned char *bytes)
{
    for (size_t i = 0; i < n; i += 8) {
        uint64_t word = 0;
        for (size_t k = 0; k < 8 && i + k < n; k++) word |= (uint64_t) bytes[i + k] << (8 * k);
        add_word(digest, word);
    }
    add_word(digest, n);
}

/* Writes both chains, mixed once more so that the last words reach all bits. */
void sg_digest_end(const sg_digest *digest, unsigned char out[SG_DIGEST_BYTES])
{
    sg_digest last = *digest;
    add_word(&last, 0);
    add_word(&last, digest->a);
    for (int k = 0; k < 8; k++) {
        out[k] = (unsigned char) (last.a >> (8 * k));
        out[8 + k] = (unsigned char) (last.b >> (8 * k));
    }
}
