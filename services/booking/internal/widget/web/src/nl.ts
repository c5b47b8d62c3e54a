import shared from "../../../../../../libs/web/text/nl.json"
import own from "../text/nl.json"

export default { ...shared, ...own }
