# Panels along one input have a logarithmic axis where the fit has the logarithm of the input.

r_code_alone()

test_that("effects and slopes along such an input are logarithmic, others are not", {
  slow_tier()
  skip_if_not_installed("MASS")
  fit <- sparsegp(brain ~ body + z, transform(MASS::mammals, z = sin(seq_along(body))))
  expect_gt(side_of(fit, "body"), 0)
  for (type in c("effects", "slope")) {
    asked <- with_log_axis(fit, list(type = type, level = 0.95), plot_style())
    made <- registered("plots", type)
    charts <- made$charts(fit, made$picture(fit, asked), asked$style)
    logs <- vapply(charts, function(chart) isTRUE(chart$log_x), NA)
    expect_identical(unname(logs[order(vapply(charts, `[[`, "", "x"))]), c(TRUE, FALSE))
    drawn <- drawing(plot(fit, "body", type))[[1L]]$body
    expect_equal(diff(range(diff(log(drawn)))), 0, tolerance = 1e-8)
    linear <- drawing(plot(fit, "body", type, xlim = c(1, 50)))[[1L]]$body
    expect_equal(diff(range(diff(linear))), 0, tolerance = 1e-8)
  }
  linear <- drawing(plot(fit, "body", "effects", log = ""))[[1L]]$body
  expect_equal(diff(range(diff(linear))), 0, tolerance = 1e-8)
  skip_if_not_installed("ggplot2")
  expect_true(inherits(drawing({
    made <- ggplot2::autoplot(fit, "body", "slope")
    ggplot2::ggplot_build(made)
    made
  }), "ggplot"))
})
