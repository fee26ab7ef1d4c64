/* example.c: a rational-quadratic kernel and a Student likelihood for sparsegp. */
#include <math.h>
#include <R.h>
#include <Rmath.h>
#include <R_ext/Rdynload.h>
#include <sparsegp.h>

/* ---- The kernel (1 + r2 / 2a)^-a of shape a ---- */

static void rq_value(int n, const double *r2, double a, double *out)
{
    for (int i = 0; i < n; i++) out[i] = exp(-a * log1p(r2[i] / (2 * a)));
}

static void rq_slope(int n, const double *r2, double a, double *out)
{
    for (int i = 0; i < n; i++) out[i] = -0.5 * exp(-(a + 1) * log1p(r2[i] / (2 * a)));
}

/* dk / dlog a = a k (t / (1 + t) - log(1 + t)), t = r2 / 2a */
static void rq_dshape(int n, const double *r2, double a, double *out)
{
    for (int i = 0; i < n; i++) {
        const double t = r2[i] / (2 * a), log_t = log1p(t);
        out[i] = isfinite(t) ? a * exp(-a * log_t) * (t / (1 + t) - log_t) : 0;
    }
}

static const sparsegp_kernel RQ = {
    .magic = SPARSEGP_MAGIC, .version = SPARSEGP_VERSION, .what = SPARSEGP_KERNEL,
    .value = rq_value, .slope = rq_slope, .dshape = rq_dshape
};

/* ---- The likelihood: (y - f) / scale is Student-t of df > 2. theta: log scale, log(df - 2) ---- */

static double bounded(double x) { return x < -300 ? -300 : x > 300 ? 300 : x; }
static double scale_of(const double *theta) { return exp(bounded(theta[0])); }
static double df_of(const double *theta) { return 2 + exp(bounded(theta[1])); }

/* log Gamma((df + 1) / 2) - log Gamma(df / 2) - log(pi df) / 2, without R's functions, which may
 * warn: by Stirling's series, after a recurrence that makes its argument 8 at least. */
static double log_constant(double df)
{
    double x = 0.5 * df, up = 0;
    for (; x < 8; x += 1) up += log(x) - log(x + 0.5);
    const double z = x + 0.5, r = 1 / x, s = 1 / z, r2 = r * r, s2 = s * s;
    const double upper = s * (1.0 / 12 - s2 * (1.0 / 360 - s2 * (1.0 / 1260 - s2 * (1.0 / 1680
        - s2 / 1188))));
    const double lower = r * (1.0 / 12 - r2 * (1.0 / 360 - r2 * (1.0 / 1260 - r2 * (1.0 / 1680
        - r2 / 1188))));
    const double ratio = x * log1p(0.5 / x) - 0.5 + 0.5 * log(x) + upper - lower;
    return ratio + up - 0.5 * log(M_PI * df);
}

static void student_logp(const double *theta, double y, int n, const double *f, double *out)
{
    const double df = df_of(theta), unit = scale_of(theta) * sqrt(df);
    const double at_0 = log_constant(df) - bounded(theta[0]);
    for (int i = 0; i < n; i++) {
        const double q = (y - f[i]) / unit;
        out[i] = at_0 - 0.5 * (df + 1) * (fabs(q) > 1e8 ? 2 * log(fabs(q)) : log1p(q * q));
    }
}

static void student_moments(const double *theta, double f, double *mean, double *var)
{
    const double df = df_of(theta), scale = scale_of(theta);
    *mean = f;
    *var = scale * scale * df / (df - 2);
}

static void student_locate(const double *theta, const double *y, double *centre, double *width)
{
    *centre = y ? *y : 0;
    *width = y ? scale_of(theta) : 1;
}

static void student_slopes(const double *theta, double y, double f, double *out)
{
    const double df = df_of(theta), unit = scale_of(theta) * sqrt(df), q = (y - f) / unit;
    const double share = 1 / (1 + q * q);
    out[0] = (df + 1) / unit * (fabs(q) < 1e8 ? q * share : 1 / q);
    out[1] = -(df + 1) / unit / unit * share * (2 * share - 1);
}

static void student_predict(const double *theta, double mu, double s2, double *mean, double *var)
{
    student_moments(theta, mu, mean, var);
    *var += s2;
}

/* P(Y <= y) and P(Y > y): those of a t at f, averaged over f ~ N(mu, s2) by the trapezoidal rule.
 * This slot alone may call distribution functions of R. */
static void student_tails(const double *theta, double y, double mu, double s2, double *out)
{
    enum { STEPS = 400 };
    const double df = df_of(theta), scale = scale_of(theta), sd = sqrt(s2), reach = 9;
    double sum = 0;
    out[0] = out[1] = 0;
    for (int i = 0; i <= STEPS; i++) {
        const double t = reach * (2.0 * i / STEPS - 1), weight = exp(-0.5 * t * t);
        const double q = (y - mu - sd * t) / scale;
        out[0] += weight * pt(q, df, 1, 0);
        out[1] += weight * pt(q, df, 0, 0);
        sum += weight;
    }
    out[0] /= sum, out[1] /= sum;
}

static const sparsegp_likelihood STUDENT = {
    .magic = SPARSEGP_MAGIC, .version = SPARSEGP_VERSION, .what = SPARSEGP_LIKELIHOOD,
    .npar = 2, .logp = student_logp, .moments = student_moments, .locate = student_locate,
    .slopes = student_slopes,
    .predict = student_predict, .tails = student_tails
};

/* ---- What sparsegp has to refuse, for tests of its errors ---- */

/* A kernel as another version of the header would have it, one without a function that is required,
 * one without the magic number, and a likelihood with too many hyperparameters. */
static const sparsegp_kernel LATER = {
    .magic = SPARSEGP_MAGIC, .version = SPARSEGP_VERSION + 1, .what = SPARSEGP_KERNEL
};
static const sparsegp_kernel HALF = {
    .magic = SPARSEGP_MAGIC, .version = SPARSEGP_VERSION, .what = SPARSEGP_KERNEL,
    .value = rq_value
};
static const sparsegp_kernel FOREIGN = {
    .version = SPARSEGP_VERSION, .what = SPARSEGP_KERNEL, .value = rq_value, .slope = rq_slope
};
static const sparsegp_likelihood MANY = {
    .magic = SPARSEGP_MAGIC, .version = SPARSEGP_VERSION, .what = SPARSEGP_LIKELIHOOD,
    .npar = SPARSEGP_MAX_PAR + 1, .logp = student_logp, .moments = student_moments,
    .locate = student_locate
};

static const void *rq(void) { return &RQ; }
static const void *student(void) { return &STUDENT; }
static const void *later(void) { return &LATER; }
static const void *half(void) { return &HALF; }
static const void *foreign(void) { return &FOREIGN; }
static const void *many(void) { return &MANY; }
static const void *nothing(void) { return NULL; }

/* Is registered without the prefix, so it has to stay uncalled. */
static void fatal(void) { Rf_error("a function without the prefix was called"); }

static void put(const char *name, DL_FUNC fun)
{
    R_RegisterCCallable("sparsegpexample", name, fun);
}

void R_init_sparsegpexample(DllInfo *dll)
{
    R_registerRoutines(dll, NULL, NULL, NULL, NULL);
    R_useDynamicSymbols(dll, FALSE);
    put(SPARSEGP_PREFIX "rq", (DL_FUNC) rq);
    put(SPARSEGP_PREFIX "student", (DL_FUNC) student);
    put(SPARSEGP_PREFIX "later", (DL_FUNC) later);
    put(SPARSEGP_PREFIX "half", (DL_FUNC) half);
    put(SPARSEGP_PREFIX "foreign", (DL_FUNC) foreign);
    put(SPARSEGP_PREFIX "many", (DL_FUNC) many);
    put(SPARSEGP_PREFIX "nothing", (DL_FUNC) nothing);
    put("fatal", (DL_FUNC) fatal);
}
