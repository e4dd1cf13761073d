/** Files that the bundler takes in as text: `import page from './page.html' with { type: 'text' }`. */
declare module '*.html' {
  const text: string;
  export default text;
}
