/** How the text of a 404 begins for an address that no API has, as opposed to a thing that is not there: who asks the wrong server is told so. */
export const NOTHING_AT = "There is nothing at ";
