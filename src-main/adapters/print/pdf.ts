/** How a document becomes pages; the host may bring a printer of its own. */
import { placesInPdf, stablePdf } from '../../parsers/report/pdf'

export interface PrintOptions {
  /** Asked only where its headings lie: neither tags nor an outline, which take half of the time. */
  draft?: boolean
}

/** From an HTML document without scripts to a PDF, tagged and with an outline unless it is a draft. */
export type PdfPrinter = (html: string, options?: PrintOptions) => Promise<Uint8Array>

export { placesInPdf, stablePdf }
