/* gumbel_term.h: E exp(own f - exp f) for f ~ N(x, s2), one class's factor of the softmax where v,
 * the largest of all values plus Gumbel noise, is known and x is the class's mean less v; own = 1
 * for the class that has won and 0 for the others. Some 40 exponentials. */
#ifndef SG_GUMBEL_TERM_H
#define SG_GUMBEL_TERM_H

/* The logarithm, its first and second derivative in x, and E exp f under the same weights. */
typedef struct {
    double log, slope, curve, q;
} sg_gumbel_term;

sg_gumbel_term sg_gumbel_term_at(double x, double s2, int own);

#endif
