/** What JSX of panels becomes: the kit's own Preact, so that all components share one. */
export { Fragment, jsx, jsxs } from 'preact/jsx-runtime';
export type { JSX } from 'preact/jsx-runtime';
