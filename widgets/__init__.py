"""What the figures are drawn with: quiet Bokeh plots, data for the player, and still pictures of both."""
