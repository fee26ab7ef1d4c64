/* lik_list.h: one line per likelihood; included twice by lik.c, to declare and to list. */
SG_LIK(gaussian)
SG_LIK(probit)
SG_LIK(logit)
SG_LIK(mprobit)
SG_LIK(softmax)
SG_LIK(poisson)
SG_LIK(laplace)
SG_LIK(student)
