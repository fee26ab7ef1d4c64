# Every number that steers a default fit, in one table: its value, its unit, and what it trades.
# Nothing else in R defines such a number (test-policy.R). Computational budgets are counted in
# multiplications and never in seconds, so the same rows give the same fit on any machine.
# bench/policy.R varies each of them; RESULTS.md has what came of it.

POLICY <- utils::read.table(header = TRUE, sep = "|", strip.white = TRUE, quote = "", text = "
name                  | value       | unit       | trades
effort                | 0.125, 1, 8 | factor     | budgets of quick, normal and thorough fits
coupled_tilt | 2.3e4, 3e5 | flops | a probit, softmax tilt of coupled classes, for each pair
coupled_flops | 9.4e9 | flops | full EP of coupled classes, and learning by it: 5 seconds
coupled_evaluations | 8 | evaluations | that learning by it is taken to need
coupled_gain | 0.02 | nats | a step of it that is to gain less is not made
coupled_predictions | 3000 | rows | whose prediction, as for a picture, is in that budget
full_ep_flops | 3.4e9 | flops | full EP of all rows (1500 if Gaussian) against inducing points
ep_iterations | 8 | factorisations | cost of an EP run, if the likelihood is not Gaussian
structure_flops | 2.5e8 | flops | rows that compare structures and begin learning (630 if Gaussian)
min_evidence_gain | 1 | nats | log evidence that a later structure or a new search has to gain
overfit_nats | 0.25 | nats | by so much a hyperparameter that is learned overstates the evidence
min_transform_gain | 5 | nats | log evidence that another scale of the response has to gain
far_residual | 3.5 | median absolute deviations | beyond which Student noise is compared
far_predicted | 2 | predicted sds | beyond which a row is, too, if there is such noise
few_far | 0.25 | proportion | of such residuals, above which the spread is wide
min_drift_gain | 2 | nats | log evidence that a constant of a field has to gain, each component
min_transform_gain_per_row | 0.005 | nats a row | the same, of many rows
parameter_nats | 1.25 | nats | log evidence that is lost where it is integrated over one
min_relevance_gain | 5 | nats | the same, for a length scale of each input, of labels
min_relevance_rate | 0.01 | nats a row | and for each observation, of one-vs-rest classes, each
relevance_spread | 0.6 | logarithms | half the interquartile range of their prior: tied or free
untied_spread | 2 | logarithms | standard deviation of the prior that their search begins under
reopened_within | 10 | nats | of a structure, which is compared again if a later one has changed
fewest_screened | 8 | inputs | of which those that matter are looked for
screened_rows | 400 | rows | by which they are found
min_screened_gain | 2 | nats | log evidence that each gains, besides log p of p inputs
screened_degree | 5 | degree | of their polynomials, less of more inputs than max_ard_inputs
screened_smoothness | 0.7 | ratio | of the variances of two degrees that follow each other
screened_partners | 6 | inputs | found before, products with which are looked at
most_screened | 30 | inputs | that matter, beside many that do not
most_screened_part | 0.5, 0.2 | proportion | of inputs, of rows: of the number of those that matter
max_ard_inputs | 200 | inputs | most inputs for which a length scale each is tried
many_levels | 20 | levels | of a factor, for which an effect of each level is tried
level_rows | 2 | rows | fewest of such levels, on average
most_degree | 5 | degree | to which a polynomial is tried whose degree is open
same_unit_ratio | 100 | ratio | inputs whose sds differ by more do not share a unit
skewed_inputs | 0.5 | skewness | inputs that are tried on a log scale
skewed_values | 6 | values | fewest values of such an input
widening_values | 4 | values | the same, if the gaps between them widen, as of tenfold doses
widening_gaps | 4 | ratio | of the widest such gap to the narrowest, at least
search_tolerance | 0.1 | nats | end of a search that is refined; optima so close are one
bounding_distance | 3 | logarithms | within which a search that may win has its optimum
stage_flops           | 2.5e9       | flops      | rows and points of the later stages of learning
filtered_rows | 100 | rows | of one input, from which the evidence of full EP is by a filter
carried_rows | 300 | rows | of one input, from which some of them are inducing points of a search
carrying_part | 0.16 | proportion | most of them, if these carry a smooth function to rounding
series_rows | 10000 | rows | on which the structure of a series is compared, by Markov EP
pilot_rows | 2000 | rows | second stage of learning; its last, and latent functions, twice as many
pilot_points          | 333         | points     | second stage of learning
fit_flops             | 4e11        | flops      | most inducing points of the fit of all rows
min_points | 150 | points | the smallest basis that is tried; in so many rows every input varies
growth_factor         | 3           | ratio      | from one size of the basis to the next
min_gain | 0.008 | nats a row | log density that more points, or one more kernel, have to gain
held_numbers | 1.25e8 | numbers | covariances of rows and basis held in memory: 1 GB
multi_output_points   | 500         | points     | most points of several latent functions
multi_output_root | 4 | points | the same, times the square root of the number of rows
class_pilot_rows      | 1500        | rows       | learning of classes; begins with a third of them
class_pilot_flops     | 8e8         | flops      | inducing points of that pilot
class_pilot_points    | 150         | points     | most of them
class_points_root | 10 | points | of each class, times the square root of the number of rows
class_points          | 800, 1300   | points     | fewest and most of each class
min_class_gain | 0.003 | proportion | of the log loss, to be taken off by more points of a class
rare_label | 0.1, 0.2 | proportions | of a label, below which it has fewer points; fewest of points
candidate_rows | 0.25 | proportion | of the rows, candidates for a class's points at a time
learn_tolerance | 1e-3 | change | EP while classes are learned or hyperparameters integrated
class_search_tolerance | 100 | ratio | tolerance of EP of several classes, while these are learned
fit_tolerance | 2e-2 | change | EP of a fit of classes; probabilities move by 3e-4
compare_rows          | 8000        | rows       | fits of classes that are only compared
copy_points           | 1.75        | ratio      | more points for classes with virtual copies
lengthscale_factors | 0.7, 0.5, 0.35, 0.25 | factors | shorter length scales for classes
margin_width          | 8           | latent units | margin that is tried between two classes
min_standard_errors | 2 | standard errors | log density that a change of the model has to gain
temper_range          | 0.25, 4     | exponents  | recalibration of probabilities
most_classes | 10 | classes | whose work comparisons take; of more, fewer rows and points are shared
holdout               | 0.2         | proportion | of rows, to compare probit with least squares
label_noise | 0.01 | variance | of labels -1 and 1 in least-squares classification
start_factors | 1, 0.4, 0.15, 2.5 | factors | length scales a search begins at; the last if cheap
neighbour_inputs | 5 | inputs | most in which rows have neighbours, and shorter scales are tried
least_likeness | 0.15 | proportion | of the variance that neighbouring rows share, to see a function
lost_likeness | 0.5 | proportion | of it that a sample has to lose to be replaced by windows of rows
neighbours_from | 4000 | rows | from which nearest neighbours are compared with inducing points
map_rows | 2e5 | rows | of a source that may be a map, which are in memory together
neighbour_rows | 3000 | rows | whose densities given their neighbours are learned from
neighbour_sites | 1500 | rows | by EP of which they are learned, if the noise is not Gaussian
known_factor | 1.25e7 | numbers | of a sparse factor of the rows of Gaussian noise: 100 MB
usual_neighbours | 20, 40 | neighbours | of Gaussian noise or two inputs, and of EP in more
latent_neighbours | 10 | neighbours | of a default fit whose noise is not Gaussian
newton_rounds | 3 | evaluations | of a criterion whose curvature is known from a cheaper one
newton_gain | 5 | nats | a step that is to gain less is taken without an evaluation
neighbour_drift | 0.2 | logarithms | of a ratio of length scales, by which neighbours are others
neighbour_rounds | 3 | rounds | of learning with neighbours at the length scales of the last
pilot_windows | 4 | windows | of neighbouring rows, of which such a pilot sample is made
part_rungs | 2 | starts | between those of parts of a sum that read the same inputs
rhythm_peaks | 3 | peaks | of the periodogram, at which periodic parts are tried
rhythm_nats | 5 | nats | by which such a peak rises above the highest of noise
rhythm_cycles | 1.5 | cycles | fewest that rows span of a period that is tried
fast_cycles | 2 | cycles a row | most of a rhythm in irregular times; half a cycle on a grid
fast_power | 1.25 | ratio | of what a fast rhythm explains to what a slow one would, at least
slow_waves | 30 | waves | most that are slower than a rhythm of a calendar, beside which it shows
uneven_steps | 0.12 | proportion | by which those of a time grid differ, as months do
equal_steps | 1e-3 | proportion | up to which such steps are equal, or multiples of a unit
untimed_cycles | 4 | cycles | the same of one input that is neither a clock nor a regular grid
rhythm_harmonics | 6 | harmonics | of a period of calendars, which a peak may be
cheap_flops | 1e8 | flops | evaluation up to which a search is repeated (464 rows)
reactivation_factors | 0.15, 0.4, 1, 2, 4 | factors | length scales at which inputs are tried anew
ranking_rows | 200 | rows | fewest by which these are ranked, otherwise a third
ranking_tolerance | 0.05 | change | EP at the places that are ranked
selection_sweeps | 2 | sweeps | exchange of inducing points while sparse EP learns
kept_inputs | 1e6 | numbers | inputs of more than two columns that a fit keeps
mode_starts           | 4           | passes     | for likelihoods with several modes
mode_runs | 10 | EP runs | most for each of these passes, in search of modes
mode_nats | 7 | nats | by which a mode from which others are sought may be below the best
kept_rows             | 10000       | rows       | of a source, in memory for learning
heavy_tail_ratio | 5 | ratio | 1 % quantile to quartile, from the median: tails for asinh
mean_variance | 1e7 | variance | vague prior of a mean's coefficients, in response variances
hyperparameter_optimism | 1 | nats | of leave-one-out densities, for each learned, in an average
integrated_rows | 300 | rows | most for which hyperparameters are integrated over by default
integrated_parameters | 12 | hyperparameters | most of these
integrated_widening | 0.03 | proportion | by so much a prediction's interval has to move for it
integrated_axis | 0.0005 | proportion | of the variance, which an axis has to add to be integrated
composite_axes | 5 | axes | most whose runs along them are points of the design, too
sampled_members | 200, 50, 2 | draws | by MCMC; before the first, and sweeps for each
averaged_within | 5 | nats | by which a structure was left that an average of one fit has
averaged_alternatives | 4 | fits | most of these
min_stacking_weight | 0.001 | weight | below which a fit is left out of an average
least_label_noise | 1e-3 | proportion | stands for no label noise where labels contradict it
ivm_variances | 30, 300 | factor | of the starts of searches by the IVM's criterion, of labels
ivm_widths | 0.5, 2 | factor | the same, of length scales
failed_evaluations | 30 | evaluations | without a fixed point of EP, after which a search ends
wandering_sweeps | 100 | sweeps | after which EP far from a fixed point is taken to have none
")

# Returns the values as they are used: numbers, by name.
policy_values <- function(table) {
  values <- lapply(strsplit(table$value, ","), as.double)
  stats::setNames(values, table$name)
}

policy <- policy_values(POLICY)

EFFORT <- stats::setNames(policy$effort, c("quick", "normal", "thorough"))
