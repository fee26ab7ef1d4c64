# How a response of each kind is drawn by type "fit".

# Returns how a response of the fit's kind is drawn. The methods stand beside their drawings.
panel_of <- function(object) UseMethod("panel_of", codec_of(object))

# Describes the drawing of a kind of response.
#   along    (object, view, shown, asked) -> what is predicted along one input, a data frame
#   over     the same over two inputs: a list with a grid of nodes and the data frame, `drawn`
#   chart    (object, picture, style) -> the chart of what is along one input (plot-charts.R)
#   maps     (object, picture, style) -> a list of the charts of the map
#   by       the levels of a factor are "curves" in one panel, "pictures" on one page, or "none"
#   se       standard errors that a map may have, the default first
new_panel <- function(along, chart, over, maps, by = "curves", se = "none") {
  list(along = along, chart = chart, over = over, maps = maps, by = by, se = se)
}
