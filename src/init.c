/* init.c: the entries that R may call, with their numbers of arguments. */
#include <R_ext/Rdynload.h>
#include <R_ext/Visibility.h>
#include "glue.h"

#define ENTRY(name, arity) {"sg_" #name, (DL_FUNC) &sg_r_##name, arity}

static const R_CallMethodDef ENTRIES[] = {
    ENTRY(catalogue, 0),
    ENTRY(kernel_cross, 4),
    ENTRY(kernel_columns, 5),
    ENTRY(kernel_diag, 3),
    ENTRY(kernel_adjoint, 5),
    ENTRY(kernel_adjoint_diag, 4),
    ENTRY(lik_tilt, 6),
    ENTRY(lik_predict, 5),
    ENTRY(lik_eval, 4),
    ENTRY(lik_site, 3),
    ENTRY(lik_cross, 5),
    ENTRY(block, 4),
    ENTRY(ep_full, 9),
    ENTRY(ep_batch, 10),
    ENTRY(ep_pass, 11),
    ENTRY(posterior, 1),
    ENTRY(ep_sparse, 9),
    ENTRY(ivm, 9),
    ENTRY(ivm_criterion, 11),
    ENTRY(online, 10),
    ENTRY(predict, 6),
    {NULL, NULL, 0}
};

void attribute_visible R_init_sparsegp(DllInfo *dll); /* R looks for it by name */

void attribute_visible R_init_sparsegp(DllInfo *dll)
{
    R_registerRoutines(dll, NULL, ENTRIES, NULL, NULL);
    R_useDynamicSymbols(dll, FALSE);
    R_forceSymbols(dll, TRUE);
}
