import shared from "../../../../../../libs/web/text/de.json"
import own from "../text/de.json"

export default { ...shared, ...own }
