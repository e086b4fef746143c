/* What comes into the header behind the page, in one file. */
export { AccountMenu } from "./account-menu.tsx";
export { ColorSchemeMenu } from "./color-scheme-menu.tsx";
export { OrganisationSwitcher } from "./organisation-switcher.tsx";
