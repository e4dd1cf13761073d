/** Files that the bundler takes in as text: `import page from './page.html' with { type: 'text' }`, and scripts of pages. */
declare module '*.html' {
  const text: string;
  export default text;
}
declare module '*.css' {
  const text: string;
  export default text;
}
declare module 'page:*' {
  const text: string;
  export default text;
}
