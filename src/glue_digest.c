/* glue_digest.c: the digest of what R reads time and again, or has written to a file. */
#include <string.h>
#include "digest.h"
#include "glue.h"

/* Adds a column, numbers, text or bytes: its type, its length and its values. */
static void add_column(sg_digest *digest, SEXP x)
{
    const R_xlen_t n = XLENGTH(x);
    const double head[] = {TYPEOF(x), (double) n};
    sg_digest_doubles(digest, 2, head);
    if (TYPEOF(x) == REALSXP) {
        sg_digest_doubles(digest, n, REAL(x));
    } else if (TYPEOF(x) == RAWSXP) {
        sg_digest_text(digest, n, RAW(x));
    } else {
        for (R_xlen_t i = 0; i < n; i++) {
            const void *mark = vmaxget();
            const int missing = STRING_ELT(x, i) == NA_STRING;
            const char *text = missing ? "" : Rf_translateCharUTF8(STRING_ELT(x, i));
            sg_digest_text(digest, strlen(text), (const unsigned char *) text);
            if (missing) sg_digest_text(digest, 1, (const unsigned char *) "");
            vmaxset(mark);
        }
    }
}

/* columns: a list of doubles, text and bytes. Returns the digest as 32 hexadecimal digits. */
SEXP sg_r_digest(SEXP columns)
{
    static const char DIGITS[] = "0123456789abcdef";
    unsigned char bytes[SG_DIGEST_BYTES];
    char text[2 * SG_DIGEST_BYTES + 1] = {0};
    sg_digest digest = sg_digest_new();
    const int count = Rf_length(sg_list_of(columns, Rf_length(columns), "columns"));
    for (int k = 0; k < count; k++) {
        SEXP x = VECTOR_ELT(columns, k);
        const int known = TYPEOF(x) == REALSXP || TYPEOF(x) == STRSXP || TYPEOF(x) == RAWSXP;
        if (!known || OBJECT(x)) sg_stop_damaged("a column has a type without a digest");
        add_column(&digest, x);
    }
    sg_digest_end(&digest, bytes);
    for (int k = 0; k < SG_DIGEST_BYTES; k++) {
        text[2 * k] = DIGITS[bytes[k] / 16];
        text[2 * k + 1] = DIGITS[bytes[k] % 16];
    }
    return Rf_mkString(text);
}
