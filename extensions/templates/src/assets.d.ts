/** Files that the bundler takes in as text: `import text from './coder.toml' with { type: 'text' }`. */
declare module '*.toml' {
  const text: string;
  export default text;
}
