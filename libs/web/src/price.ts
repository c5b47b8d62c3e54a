/** How a language writes amounts of the API in a currency. Cents stand there where there are any. The same rule as Reader.Price in dates.go. */
export function prices(locale: string, currency: string) {
  const made: (Intl.NumberFormat | undefined)[] = []
  return (amount: string): string => {
    const minimumFractionDigits = /\.0*[1-9]/.test(amount) ? 2 : 0
    return (made[minimumFractionDigits] ??= new Intl.NumberFormat(locale, { style: "currency", currency: currency || "EUR", minimumFractionDigits })).format(Number(amount))
  }
}
