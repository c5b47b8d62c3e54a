import { showVisitorsTime } from "./zone"

showVisitorsTime()
