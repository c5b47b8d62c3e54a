import shared from "../../../../../../libs/web/text/fr.json"
import own from "../text/fr.json"

export default { ...shared, ...own }
