/* init.c: registers the entries that R may call (glue_list.h). */
#include <R_ext/Rdynload.h>
#include <R_ext/Visibility.h>
#include "glue.h"

#define SG_ENTRY(name, arity, arguments) {"sg_" #name, (DL_FUNC) &sg_r_##name, arity},

static const R_CallMethodDef ENTRIES[] = {
#include "glue_list.h"
    {NULL, NULL, 0}
};

void attribute_visible R_init_sparsegp(DllInfo *dll); /* R looks for it by name */

void attribute_visible R_init_sparsegp(DllInfo *dll)
{
    R_registerRoutines(dll, NULL, ENTRIES, NULL, NULL);
    R_useDynamicSymbols(dll, FALSE);
    R_forceSymbols(dll, TRUE);
}
