// Package row reads rows of tables into structs, column by column, and says what a missing one means.
package row
