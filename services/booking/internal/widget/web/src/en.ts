import shared from "../../../../../../libs/web/text/en.json"
import own from "../text/en.json"

export default { ...shared, ...own }
