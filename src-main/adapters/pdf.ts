/** How a document becomes pages; the host may bring a printer of its own. */
import { datePdf, placesInPdf } from '../parsers/pdf'

/** From an HTML document without scripts to a tagged PDF with an outline. */
export type PdfPrinter = (html: string) => Promise<Uint8Array>

export { datePdf, placesInPdf }
