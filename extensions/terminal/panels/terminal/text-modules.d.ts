declare module '@xterm/xterm/lib/xterm.js' {
  const text: string;
  export default text;
}
declare module '@xterm/addon-fit/lib/addon-fit.js' {
  const text: string;
  export default text;
}
declare module '@xterm/xterm/css/xterm.css' {
  const text: string;
  export default text;
}
