/** Files that the bundler takes in as text. */
declare module '*.html' {
  const text: string;
  export default text;
}
declare module '*.svg' {
  const text: string;
  export default text;
}
