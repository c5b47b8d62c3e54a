// Countries whose public holidays the API has, with the states and cantons (ISO 3166-2) that have their own, by the names they go by there.
export const countries = ["BE", "NL", "FR", "DE", "AT", "CH", "GB"] as const

export const parts: { [country: string]: { [region: string]: string } } = {
  DE: {
    "DE-BW": "Baden-Württemberg", "DE-BY": "Bayern", "DE-BE": "Berlin", "DE-BB": "Brandenburg", "DE-HB": "Bremen", "DE-HH": "Hamburg", "DE-HE": "Hessen", "DE-MV": "Mecklenburg-Vorpommern",
    "DE-NI": "Niedersachsen", "DE-NW": "Nordrhein-Westfalen", "DE-RP": "Rheinland-Pfalz", "DE-SL": "Saarland", "DE-SN": "Sachsen", "DE-ST": "Sachsen-Anhalt", "DE-SH": "Schleswig-Holstein", "DE-TH": "Thüringen",
  },
  CH: {
    "CH-AG": "Aargau", "CH-AI": "Appenzell Innerrhoden", "CH-AR": "Appenzell Ausserrhoden", "CH-BE": "Bern / Berne", "CH-BL": "Basel-Landschaft", "CH-BS": "Basel-Stadt", "CH-FR": "Fribourg / Freiburg", "CH-GE": "Genève",
    "CH-GL": "Glarus", "CH-GR": "Graubünden / Grischun / Grigioni", "CH-JU": "Jura", "CH-LU": "Luzern", "CH-NE": "Neuchâtel", "CH-NW": "Nidwalden", "CH-OW": "Obwalden", "CH-SG": "St. Gallen", "CH-SH": "Schaffhausen",
    "CH-SO": "Solothurn", "CH-SZ": "Schwyz", "CH-TG": "Thurgau", "CH-TI": "Ticino", "CH-UR": "Uri", "CH-VD": "Vaud", "CH-VS": "Valais / Wallis", "CH-ZG": "Zug", "CH-ZH": "Zürich",
  },
}
