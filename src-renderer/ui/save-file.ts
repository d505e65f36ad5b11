/** Hands a file to the browser, which saves it where it saves downloads or asks. */
export function saveFile(name: string, content: Blob): void {
  const url = URL.createObjectURL(content)
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  // Not at once: the download reads it after the click has returned.
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}
