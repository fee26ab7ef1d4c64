/* glue_list.h: the entries that R may call: name, number of arguments, arguments. For glue.h, which
 * declares them, and init.c, which registers them. Those that a fit is made by begin with what
 * engine_call() in R/engine.R says of the problem. */
SG_ENTRY(catalogue, 0, (void))
SG_ENTRY(digest, 1, (SEXP columns))
SG_ENTRY(extension, 2, (SEXP extension, SEXP what))
SG_ENTRY(kernel_cross, 4, (SEXP spec, SEXP theta, SEXP x, SEXP z))
SG_ENTRY(kernel_columns, 5, (SEXP spec, SEXP theta, SEXP x, SEXP kept, SEXP which))
SG_ENTRY(kernel_diag, 3, (SEXP spec, SEXP theta, SEXP x))
SG_ENTRY(kernel_adjoint, 5, (SEXP spec, SEXP theta, SEXP x, SEXP z, SEXP Kbar))
SG_ENTRY(kernel_adjoint_diag, 4, (SEXP spec, SEXP theta, SEXP x, SEXP kbar))
SG_ENTRY(kernel_jet, 6, (SEXP spec, SEXP theta, SEXP x, SEXP v, SEXP z, SEXP w))
SG_ENTRY(kernel_adjoint_inputs, 5, (SEXP spec, SEXP theta, SEXP x, SEXP z, SEXP Kbar))
SG_ENTRY(block, 4, (SEXP S, SEXP B, SEXP a, SEXP m))
SG_ENTRY(lik_cross, 5, (SEXP spec, SEXP theta, SEXP y, SEXP mu, SEXP S))
SG_ENTRY(lik_site, 3, (SEXP spec, SEXP theta, SEXP y))
SG_ENTRY(lik_tilt, 6, (SEXP spec, SEXP theta, SEXP y, SEXP mu, SEXP S, SEXP quadrature))
SG_ENTRY(lik_predict, 5, (SEXP spec, SEXP theta, SEXP mu, SEXP S, SEXP quadrature))
SG_ENTRY(lik_tails, 5, (SEXP spec, SEXP theta, SEXP y, SEXP mu, SEXP S))
SG_ENTRY(lik_quantile, 6, (SEXP spec, SEXP theta, SEXP y, SEXP mu, SEXP S, SEXP p))
SG_ENTRY(mixed_quantile, 4, (SEXP mean, SEXP sd, SEXP shares, SEXP p))
SG_ENTRY(lik_eval, 4, (SEXP spec, SEXP theta, SEXP y, SEXP f))
SG_ENTRY(ep_full, 9, (SEXP kernel, SEXP ktheta, SEXP x, SEXP lik, SEXP ltheta, SEXP y, SEXP offset,
                      SEXP sites, SEXP options))
SG_ENTRY(markov, 9, (SEXP kernel, SEXP ktheta, SEXP x, SEXP lik, SEXP ltheta, SEXP y, SEXP offset,
                     SEXP sites, SEXP options))
SG_ENTRY(markov_states, 3, (SEXP kernel, SEXP ktheta, SEXP at))
SG_ENTRY(markov_predict, 5, (SEXP kernel, SEXP ktheta, SEXP x, SEXP posterior, SEXP query))
SG_ENTRY(neighbours_before, 2, (SEXP x, SEXP k))
SG_ENTRY(neighbours_at_levels, 5, (SEXP x, SEXP order, SEXP points, SEXP k, SEXP prefix))
SG_ENTRY(informative_rows, 6, (SEXP kernel, SEXP ktheta, SEXP x, SEXP noise, SEXP points, SEXP k))
SG_ENTRY(vecchia_weights, 5, (SEXP kernel, SEXP ktheta, SEXP x, SEXP noise, SEXP points))
SG_ENTRY(vecchia_densities, 5, (SEXP kernel, SEXP ktheta, SEXP x, SEXP noise, SEXP given))
SG_ENTRY(markov_end, 5, (SEXP kernel, SEXP ktheta, SEXP x, SEXP posterior, SEXP order))
SG_ENTRY(ep_neighbours, 9, (SEXP kernel, SEXP ktheta, SEXP x, SEXP lik, SEXP ltheta, SEXP y,
                            SEXP offset, SEXP sites, SEXP options))
SG_ENTRY(factor_squares, 4, (SEXP factor, SEXP row, SEXP weights, SEXP width))
SG_ENTRY(factor_products, 2, (SEXP factor, SEXP columns))
SG_ENTRY(ep_batch, 10, (SEXP kernel, SEXP ktheta, SEXP x, SEXP lik, SEXP ltheta, SEXP y,
                        SEXP offset, SEXP sites, SEXP options, SEXP basis))
SG_ENTRY(ep_pass, 11, (SEXP kernel, SEXP ktheta, SEXP x, SEXP lik, SEXP ltheta, SEXP y, SEXP offset,
                       SEXP states, SEXP sites, SEXP options, SEXP basis))
SG_ENTRY(ep_iterate, 3, (SEXP options, SEXP state, SEXP outcome))
SG_ENTRY(posterior, 1, (SEXP state))
SG_ENTRY(triangles, 1, (SEXP factors))
SG_ENTRY(ivm, 9, (SEXP kernel, SEXP ktheta, SEXP x, SEXP lik, SEXP ltheta, SEXP y, SEXP offset,
                  SEXP tie_break, SEXP options))
SG_ENTRY(ivm_criterion, 11, (SEXP kernel, SEXP ktheta, SEXP x, SEXP lik, SEXP ltheta, SEXP y,
                             SEXP offset, SEXP active, SEXP at_hand, SEXP sites, SEXP options))
SG_ENTRY(ep_sparse, 9, (SEXP kernel, SEXP ktheta, SEXP x, SEXP lik, SEXP ltheta, SEXP y,
                        SEXP offset, SEXP basis, SEXP options))
SG_ENTRY(online, 10, (SEXP kernel, SEXP ktheta, SEXP x, SEXP lik, SEXP ltheta, SEXP y, SEXP offset,
                      SEXP state, SEXP basis, SEXP options))
SG_ENTRY(predict, 6, (SEXP kernel, SEXP ktheta, SEXP layout, SEXP posterior, SEXP x, SEXP joint))
SG_ENTRY(slopes, 7, (SEXP kernel, SEXP ktheta, SEXP layout, SEXP posterior, SEXP x, SEXP v,
                     SEXP joint))
