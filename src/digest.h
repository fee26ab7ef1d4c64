/* digest.h: 128 bits of any number of doubles and bytes, in their order. Any value that changes, or
 * changes places, changes the digest, but for a chance of 2^-64: for accidents, as it takes no
 * pains against who looks for two inputs of one digest. The same on every machine. */
#ifndef SG_DIGEST_H
#define SG_DIGEST_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint64_t a, b;
} sg_digest;

enum { SG_DIGEST_BYTES = 16 };

sg_digest sg_digest_new(void);

/* Adds n doubles, or n bytes and their number. All NaN are one, but R's NA, and 0 and -0 are two.
 * O(n), some 1e9 bytes a second. */
void sg_digest_doubles(sg_digest *digest, size_t n, const double *x);
void sg_digest_text(sg_digest *digest, size_t n, const unsigned char *bytes);

/* The digest's bytes. */
void sg_digest_end(const sg_digest *digest, unsigned char out[SG_DIGEST_BYTES]);

#endif
