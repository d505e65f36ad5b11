/** Downloads a file through the browser. */
export function saveFile(name: string, content: Blob): void {
  const url = URL.createObjectURL(content)
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  // Revoke the URL later, because the download reads the URL after the click has returned.
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}
