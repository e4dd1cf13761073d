/** How permissions are named: one rule for routes, panels and events, whoever adds them. */

/** `AREA.VERB`: the area as `routeGroup` names it, which for third parties is the extension's id: `acme-garden.read`. */
export const PERMISSION_PATTERN = '^[a-z][a-z0-9]*([-_][a-z0-9]+)*\\.(read|send|write|admin|own)$';
