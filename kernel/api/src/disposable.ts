/** What is opened is handed back as one of these; disposing twice does nothing. */
export interface Disposable {
  dispose(): void | Promise<void>;
}
