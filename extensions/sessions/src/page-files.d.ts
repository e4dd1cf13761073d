/** Files that the bundler takes in as text. */
declare module '*.css' {
  const text: string;
  export default text;
}
