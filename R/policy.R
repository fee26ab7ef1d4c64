# Every number that steers a default fit, in one table: its value, its unit, and what it trades.
# Nothing else in R defines such a number (test-policy.R). Computational budgets are counted in
# multiplications and never in seconds, so that the same rows give the same fit on any machine.
# bench/policy.R varies each of them; RESULTS.md has what came of it.

POLICY <- utils::read.table(header = TRUE, sep = "|", strip.white = TRUE, quote = "", text = "
name                     | value                  | unit               | trades
effort                   | 0.125, 1, 8            | factor             | quick, normal and thorough fits: every budget is multiplied by it
full_ep_flops            | 3.4e9                  | multiplications    | full EP of all rows (1500 with Gaussian noise) against inducing points
ep_iterations            | 8                      | factorisations     | the cost of one EP run, for likelihoods that are not Gaussian
structure_flops          | 2.5e8                  | per evaluation     | rows on which kernels and scalings are compared (630 with Gaussian noise)
min_kernel_gain          | 1                      | nats               | a later kernel has to have so much more log evidence
min_shared_scale_gain    | 3                      | nats               | the same, for one scale shared by all inputs, which depends on their units
max_ard_inputs           | 64                     | inputs             | most inputs for which a length scale each is tried
same_unit_ratio          | 100                    | ratio of sds       | inputs whose sds differ by more do not share a unit
rough_search             | 0.1                    | nats               | where a search stops whose result another one refines
pilot_flops              | 1e9                    | per evaluation     | rows of the first stage of learning, all of them in the basis
stage_flops              | 2.5e9                  | per evaluation     | rows and points of the later stages of learning
pilot_rows               | 2000                   | rows               | second stage of learning; the last one has twice as many
pilot_points             | 333                    | inducing points    | second stage of learning
fit_flops                | 4e11                   | last iteration     | most inducing points of the fit of all rows
min_points               | 150                    | inducing points    | the smallest basis that is tried
growth_factor            | 3                      | ratio              | from one size of the basis to the next
min_gain                 | 0.008                  | nats an observation | what growing by that factor has to gain in log predictive density
held_numbers             | 1.25e8                 | numbers            | covariances of rows and basis held in memory: 1 GB
multi_output_points      | 500                    | inducing points    | most points of several latent functions
multi_output_root        | 4                      | points             | the same, times the square root of the number of rows
class_pilot_rows         | 1500                   | rows               | learning of classes; a third of them for its beginning
class_pilot_flops        | 8e8                    | per evaluation     | inducing points of that pilot
class_pilot_points       | 150                    | inducing points    | most of them
class_points_root        | 10                     | points             | points of each class, times the square root of the number of rows
class_points             | 800, 1300              | inducing points    | fewest and most points of each class
candidate_rows           | 0.25                   | proportion         | of the rows, candidates for a class's points at a time
learn_tolerance          | 1e-3                   | change             | where EP stops while classes are learned; the evidence moves by its square
fit_tolerance            | 2e-2                   | change             | where EP stops in a fit of classes; probabilities move by 3e-4
compare_tolerance        | 5e-2                   | change             | the same, for fits that are only compared
compare_rows             | 8000                   | rows               | fits of classes that are only compared
copy_points              | 1.75                   | ratio              | more points for classes with virtual copies
lengthscale_factors      | 0.7, 0.5, 0.35, 0.25   | factors            | shorter length scales that classes are tried with
margin_width             | 8                      | latent units       | the margin that is tried between two classes
min_standard_errors      | 2                      | standard errors    | what a change of the model has to gain in log predictive density
temper_range             | 0.25, 4                | exponents          | recalibration of probabilities
holdout                  | 0.2                    | proportion         | held out to compare probit with least-squares classification
label_noise              | 0.01                   | variance           | of labels -1 and 1 in least-squares classification
start_factors            | 1, 0.4, 0.15           | factors            | length scales at which a search may begin
long_start_factor        | 2.5                    | factor             | one more, if an evaluation is cheap
cheap_flops              | 1e8                    | per evaluation     | a search is repeated from several starts up to this cost (464 rows)
same_optimum             | 0.1                    | nats               | two searches that end so close have found the same optimum
reactivation_factors     | 1, 2, 4                | factors            | length scales at which inputs that were switched off are tried again
reactivation_rounds      | 3                      | searches           | how often
min_search_gain          | 1                      | nats               | what a search from there has to promise
selection_sweeps         | 2                      | sweeps             | with exchange of inducing points, while sparse EP learns
mode_starts              | 4                      | EP runs            | starts for likelihoods with several modes
kept_rows                | 10000                  | rows               | of a source, in memory for learning
early_rows               | 150                    | rows               | a subset sees every input vary among so many of its first rows
")

# Returns the values as they are used: numbers, by name.
policy_values <- function(table) {
  values <- lapply(strsplit(table$value, ","), as.double)
  stats::setNames(values, table$name)
}

policy <- policy_values(POLICY)

EFFORT <- stats::setNames(policy$effort, c("quick", "normal", "thorough"))
