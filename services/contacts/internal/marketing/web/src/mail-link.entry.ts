import { takeToken } from "@web/mail-link"

takeToken()
